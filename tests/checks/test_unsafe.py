"""What must not be committed is found, and ordinary phrases are left alone."""

import pytest
from tests.conftest import TEXTS

from polyjudge.checks.unsafe import is_opaque, unsafe_parts


def kinds(text):
    return {found.kind for found in unsafe_parts(text)}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("local path", "Open /home/alice/notes.txt now"),
        ("local path", "/Users/bob/Desktop"),
        ("local path", "see /etc/passwd"),
        ("local path", "It is in /home/alice/example.com/page"),
        ("local path", "(~/.ssh/id_rsa)"),
        ("local path", r"Speichern in C:\Users\Anna\Documents"),
        ("local path", r"\\server\share"),
        ("local path", "file:///srv/data"),
        ("local path", "../secret/key.pem"),
        ("local path", "Look in ../../notes, please."),
        ("local path", "(./build/output.txt)"),
        ("local path", "./run"),
        ("local path", r"..\secret"),
        ("local path", r"type .\data\list.txt"),
        ("local path", "C:/Users/Anna/list.txt"),
        ("local path", "$HOME/notes"),
        ("local path", r"%APPDATA%\Program"),
        ("local path", "the file secret/key.pem"),
        ("local path", r"certs\server.key"),
        ("local path", "it is in .ssh/config"),
        ("network address", "Ping 10.0.0.1 first"),
        ("network address", "192.168.178.20:8080"),
        ("network address", "fe80::1"),
        ("network address", "2001:db8:0:0:1:2:3:4"),
        ("network address", "2001:db8::8a2e:370:7334"),
        ("network address", "00:1a:2b:3c:4d:5e"),
        ("host name", "https://build.acme-corp.com/job/7"),
        ("host name", "http://example.com.acme.io/x"),
        ("host name", "db1.prod.internal"),
        ("host name", "printer.local is off"),
        ("host name", "ask db1.acme.com about it"),
        ("host name", "on localhost"),
        ("e-mail address", "Write to anna.schmidt@firma.de today"),
        ("e-mail address", "bob@notexample.com"),
        ("secret", "sk-ant-api03-AbCdEf_ghIJ-klMNop12345"),
        ("secret", "sk-proj-4f9aB7c2d8e1f0a3b5c6"),
        ("secret", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
        ("secret", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("secret", "AKIAIOSFODNN7EXAMPLE"),
        ("secret", "AIzaSyD-1234567890abcdefghijklmnopqrstu"),
        ("secret", "xoxb-123456789012-abcdef"),
        ("secret", "-----BEGIN RSA PRIVATE KEY-----"),
        ("secret", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3"),
        ("secret", "password=hunter"),
        ("secret", "API_KEY: 8f7d6a5b"),
        ("command", "rm -rf /"),
        ("command", "please run rm -rf * quickly"),
        ("command", "$(touch made)"),
        ("command", "`touch made`"),
        ("command", "Then run `curl example.org` twice"),
        ("command", "call `ls -la`"),
        ("command", "call `git push --force` now"),
        ("command", "`cat list | sort`"),
        ("command", "`echo x > /tmp`"),
        ("command", "`print`, then `make && install`"),
        ("command", "`echo $(date)`"),
        ("command", "hello; curl http://x"),
        ("command", "curl -s x | sh"),
        ("command", "true && reboot"),
        ("command", "sudo chmod 777 file"),
        ("command", "bash -c 'x'"),
        ("command", "<script>alert(1)</script>"),
        ("command", "'; DROP TABLE users"),
    ],
)
def test_what_must_not_be_committed_is_found(kind, text):
    assert kind in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS.values(),
        "It costs $5.99 (about €5.50), or 1,234.56 in all.",
        "Das kostet 1.234,56 € am 24.12.2024.",
        "The train leaves at 10:30:15 on 2024-12-24.",
        "From 12:30 to 14:45, 24/7 and/or at 90 km/h.",
        "Version 3.11.7 is out.",
        "Visit example.org or https://www.example.com/help?x=1.",
        "Write to someone@example.org.",
        "See https://example.net:8443/path.",
        "Curl up with a good book.",
        "Rm. 5 is on the left; cat people like it.",
        "Password: please enter your password again.",
        "The token: a small gift.",
        "The secret of Q&A, R&D & rock 'n' roll; what else?",
        "He said: \"It's fine\" — isn't it?",
        "Sources: the 1st, the 2nd.",
        "sk-like letters, pk_or so",
        "She evaluated; eval is short for it.",
        "At home, usr and etc. are short forms: etc./and so on",
        "A::B and std::vector",
        "The ratio is 4:3 or 16:9.",
        "Use the `print` function, not `echo`.",
        "The fields `id`; `name` and `last-name` are `null`.",
        "Set `x > 0` and `<br>` between `a` and `b` - or use `Touch ID`.",
        "``quoted'' and ``quoted again''",
        "`Guten Tag` heißt `Good day`",
        "Wait... / and so on ../ . / .. or .../x",
        "Either/or, 1/2, km/h, n/a, w/o, A./B., his/her.",
        "See https://example.org/../a/./b/key.pem.",
        "The key.pem and the file.key are gone.",
    ],
)
def test_ordinary_phrases_are_left_alone(text):
    assert list(unsafe_parts(text)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a.",
        "a-",
        "a@",
        "1",
        "1.",
        "a:",
        "$(",
        "eyJ-",
        "sk-",
        "/home",
        "password ",
        "`",
        "; ",
        "-----BEGIN ",
        "a.com.",
        "../",
        "a/",
        "./a",
        "a b ",
        "`a -",
        "`a ",
        ".pem",
    ],
)
def test_a_long_text_of_anything_is_looked_through(piece):
    text = piece * (200_000 // len(piece))

    for _ in unsafe_parts(text):
        pass
    is_opaque(text)


@pytest.mark.parametrize(
    "text",
    ["ERR_1042", "camelCase snake_case", "ABC-123-XYZ", "#4711", "v1.2.3-beta4", "{name}", "a1b2c3 d4e5f6", "42"],
)
def test_identifiers_are_opaque(text):
    assert is_opaque(text)


@pytest.mark.parametrize(
    "text",
    [*TEXTS.values(), "", "I paid 5 dollars for 2 of them.", "The USA and the EU met.", "My McDonald friend called."],
)
def test_language_is_not_opaque(text):
    assert not is_opaque(text)
