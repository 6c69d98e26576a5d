"""The PostgreSQL cache with failing servers: every error is clear, and no paid reply is lost."""

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import quote

import pytest
from tests.loopback.vendor_server import ServerThread

from polyjudge.cache.maintenance import import_entries, statistics_of
from polyjudge.cache.postgres import PostgresCache
from polyjudge.cache.postgres_connection import NoCacheYetError, UnreachableCacheError
from polyjudge.cache.protocol import open_cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import CacheError
from polyjudge.providers.caching import once
from polyjudge.records.requests import Reply

SECRET = "geheim:@/?#%"


@pytest.fixture(autouse=True)
def _no_other_servers(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PG"):
            monkeypatch.delenv(name)


@pytest.fixture
def url(postgres):
    return postgres.new_database()


@pytest.fixture
def cache(url, tmp_path):
    opened = PostgresCache(url, fallback=tmp_path / "fallback.sqlite")
    yield opened
    run(opened.aclose())


async def answer() -> Reply:
    return Reply(text="answer", model="m")


def run(work):
    """Run, and fail instead of hanging."""
    return asyncio.run(asyncio.wait_for(work, 90))


@asynccontextmanager
async def opened(url: str, **options):
    """Open a cache, connected, and close it."""
    cache = PostgresCache(url, **options)
    try:
        await cache.connect()
        yield cache
    finally:
        await cache.aclose()


def open_and_close(url: str, *, read_only: bool = False) -> None:
    async def both():
        await (await open_cache(url, read_only=read_only)).aclose()

    run(both())


def ask(url: str, key: str) -> str:
    """Open a cache, ask, and close it; return the reply."""

    async def ask_once():
        async with opened(url) as cache:
            return (await once(cache, key, answer)).text

    return run(ask_once())


def opening_error(url: str) -> str:
    """Return the one-line error of opening a cache."""
    with pytest.raises(CacheError) as raised:
        open_and_close(url)
    message = str(raised.value)
    assert "\n" not in message
    assert "geheim" not in message
    assert raised.value.exit_code == 2
    return message


def role(postgres, name: str, rights: str = "", database: str = "") -> None:
    postgres.run(f"drop owned by {name}; drop role {name}" if role_is_there(postgres, name) else "select 1")
    postgres.run(f"create role {name} login {rights}")


def role_is_there(postgres, name: str) -> bool:
    return postgres.run(f"select count(*) from pg_roles where rolname = '{name}'") == "1"


def locks(postgres, url: str) -> int:
    return int(postgres.run("select count(*) from pg_locks where locktype = 'advisory'", url))


def wait_for(condition) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.01)


# Opening


def test_an_unreachable_server_is_one_line_with_host_port_database_and_remedy():
    message = opening_error(f"postgresql://me:{quote(SECRET, safe='')}@127.0.0.1:1/polls")

    assert message == (
        "postgresql://me@127.0.0.1:1/polls: connection refused; start PostgreSQL, or check host and port"
    )


def test_an_unreachable_server_has_another_error_than_a_wrong_database(postgres):
    with pytest.raises(UnreachableCacheError):
        open_and_close("postgresql://127.0.0.1:1/polls")
    with pytest.raises(CacheError) as raised:
        open_and_close(postgres.url("no_such_database"))
    assert not isinstance(raised.value, UnreachableCacheError)


def test_a_wrong_password_is_an_error_that_does_not_show_it(postgres, url, monkeypatch):
    role(postgres, "secretive", f"superuser password '{SECRET}'")
    wrong, right = (url.replace("postgres@", f"secretive:{quote(word, safe='')}@") for word in ("geheimer", SECRET))

    assert "wrong password; check it in the URL, in PGPASSWORD or in ~/.pgpass" in opening_error(wrong)

    async def look_at(url):
        async with opened(url) as cache:
            assert "geheim" not in cache.place + repr(cache) + repr(vars(cache))
            return cache.place

    assert run(look_at(right)) == url.replace("postgres@", "secretive@")
    run(look_at(url.replace("postgres@", "secretive@") + f"?password={quote(SECRET, safe='')}"))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    open_and_close(url.replace("postgres@", "secretive@"))


def test_a_missing_database_is_an_error(postgres):
    assert "database does not exist; create it with createdb" in opening_error(postgres.url("no_such_database"))


def test_missing_permissions_are_an_error_before_anything_is_paid_for(postgres, url):
    role(postgres, "guest")
    guest = url.replace("postgres@", "guest@")

    assert "permission denied for schema public; ask the owner for this permission" in opening_error(guest)
    open_and_close(url)
    assert "no permission to read the table polyjudge_entries; ask its owner to run: grant select" in opening_error(
        guest
    )
    postgres.run("grant select on polyjudge_entries to guest", url)
    assert (
        "no permission to write the table polyjudge_entries; ask its owner to run: grant select, insert"
        in opening_error(guest)
    )
    open_and_close(guest, read_only=True)
    postgres.run("grant insert, update on polyjudge_entries to guest", url)
    assert ask(guest, "key") == "answer"


def test_a_rejected_user_is_an_error(postgres, url):
    role(postgres, "careful")

    assert "add ?sslmode=require if the server requires TLS" in opening_error(url.replace("postgres@", "careful@"))
    assert "does not offer TLS, which sslmode requires" in opening_error(f"{url}?sslmode=require")
    assert 'role "nosuch" does not exist' in opening_error(url.replace("postgres@", "nosuch@"))


def test_tls_is_used_and_certificates_are_verified_as_the_url_requires(postgres, url, tmp_path):
    role(postgres, "careful", "superuser")
    careful = url.replace("postgres@", "careful@")
    try:
        certificate = postgres.certify()
        (tmp_path / "root.crt").write_bytes(certificate.read_bytes())
        for mode in ("", "?sslmode=require", f"?sslmode=verify-full&sslrootcert={tmp_path / 'root.crt'}"):
            assert ask(careful + mode, mode) == "answer"
        postgres.certify()
        message = opening_error(f"{careful}?sslmode=verify-full&sslrootcert={tmp_path / 'root.crt'}")
        assert "TLS handshake failed" in message
        assert "check sslmode and sslrootcert" in message
        assert "check the URL" in opening_error(f"{careful}?sslmode=verify-full&sslrootcert={tmp_path / 'absent.crt'}")
        assert "`sslmode` parameter must be one of" in opening_error(f"{careful}?sslmode=perhaps")
    finally:
        postgres.restart()


def test_a_server_with_too_many_connections_is_an_error(postgres, url):
    role(postgres, "lonely", "superuser connection limit 0")
    role(postgres, "lonely", "connection limit 0")

    assert "too many connections" in opening_error(url.replace("postgres@", "lonely@"))


def test_a_server_that_is_not_postgresql_is_an_error(server: ServerThread):
    address = server.url.partition("://")[2].partition("/")[0]

    assert "check the URL" in opening_error(f"postgresql://{address}/db")


def test_a_read_only_database_is_an_error_except_for_replay(postgres, url):
    open_and_close(url)
    postgres.run(f"alter database {url.rpartition('/')[2]} set default_transaction_read_only = on")

    assert "the server is read-only (a standby?); use the primary" in opening_error(url)
    open_and_close(url, read_only=True)


def test_a_newer_cache_and_another_programs_table_are_not_changed(postgres, url):
    open_and_close(url)
    postgres.run("comment on table polyjudge_entries is 'polyjudge cache, version 99'", url)
    assert "written by a newer polyjudge; upgrade polyjudge" in opening_error(url)

    postgres.run("comment on table polyjudge_entries is 'ours, keep out'", url)
    assert "belongs to another program" in opening_error(url)


def test_replaying_an_empty_database_is_an_error_and_creates_nothing(postgres, url):
    with pytest.raises(NoCacheYetError):
        open_and_close(url, read_only=True)
    assert postgres.run("select count(*) from pg_tables where tablename like 'polyjudge%'", url) == "0"


def test_many_caches_can_create_the_table_at_the_same_time(url):
    problems = []

    def make_the_table():
        try:
            open_and_close(url)
        except CacheError as error:
            problems.append(error)

    threads = [threading.Thread(target=make_the_table) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []


# Storing


@pytest.mark.parametrize(
    "text", ["a\0b", "\ud800", "back\\slash", "\\u0000", "模型", "x" * 100_000, "", "'; drop table"]
)
def test_unusual_characters_are_stored_unchanged(cache, url, text):
    run(cache.put(f"{text}!", Reply(text=text, model=text), provider=text))

    back = run(cache.get(f"{text}!"))

    assert back == Reply(text=text, model=text, cached=True)
    assert [row[1:4] for row in statistics_of(url).by_model] == [(text, text.replace("\ud800", "?"), 1)]


def test_a_reply_of_many_megabytes_is_stored_with_others(cache):
    long = Reply(text="x" * 10_000_000, model="m")

    async def all_at_once():
        async def ask_long():
            return long

        return await asyncio.gather(
            *(once(cache, f"key-{number}", answer if number else ask_long) for number in range(9))
        )

    run(all_at_once())

    assert run(cache.get("key-0")).text == long.text
    assert run(cache.get("key-8")).text == "answer"


def test_no_claim_remains_after_all_replies(postgres, url, cache):
    async def several():
        return await asyncio.gather(*(once(cache, f"key-{number}", answer) for number in range(300)))

    run(several())

    wait_for(lambda: locks(postgres, url) == 0)


def test_running_out_of_locks_is_an_error_with_a_remedy_and_leaves_no_claim(postgres, url, tmp_path):
    postgres.restart(max_locks_per_transaction="10", max_connections="10")
    try:

        async def too_many():
            async with opened(url, fallback=tmp_path / "fallback.sqlite") as cache:
                tasks = [asyncio.create_task(once(cache, f"key-{number}", never)) for number in range(20_000)]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in tasks:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                assert (await once(cache, "afterwards", answer)).text == "answer"
                await asyncio.to_thread(wait_for, lambda: locks(postgres, url) == 0)
                return next(result for result in results if isinstance(result, CacheError))

        assert "raise max_locks_per_transaction in postgresql.conf" in str(run(too_many()))
    finally:
        postgres.restart()


async def never() -> Reply:
    await asyncio.Event().wait()
    raise AssertionError


# An outage of the server


class CountingAsker:
    """Answers questions after some time, and counts how often each was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    async def ask(self, key: str) -> Reply:
        self.asked[key] = self.asked.get(key, 0) + 1
        await asyncio.sleep(0.02)
        return Reply(text=f"answer to {key}", model="m")

    async def all_through(self, caches, keys, concurrency: int):
        places = asyncio.Semaphore(concurrency)

        async def one(cache, key):
            async with places:
                return await once(cache, key, partial(self.ask, key))

        return await asyncio.gather(*(one(cache, key) for key in keys for cache in caches))


@pytest.mark.parametrize("how", ["restart", "crash"])
def test_an_outage_of_the_server_repeats_no_question(postgres, url, cache, how):
    counted = CountingAsker()
    keys = [f"key-{number}" for number in range(600)]

    def stop_for_a_while():
        wait_for(lambda: len(counted.asked) > 100)
        postgres.stop() if how == "restart" else postgres.kill()
        time.sleep(0.3)
        postgres.start()

    thread = threading.Thread(target=stop_for_a_while)
    thread.start()
    replies = run(counted.all_through([cache], keys, 32))
    thread.join()

    assert [reply.text for reply in replies] == [f"answer to {key}" for key in keys]
    assert set(counted.asked.values()) == {1}
    assert statistics_of(url).entries == 600


def test_with_several_caches_only_calls_in_flight_may_be_repeated_after_an_outage(postgres, url, tmp_path):
    counted = CountingAsker()
    keys = [f"key-{number}" for number in range(400)]

    def stop_for_a_while():
        wait_for(lambda: len(counted.asked) > 100)
        postgres.restart()

    async def through_both():
        async with opened(url, fallback=tmp_path / "a") as one, opened(url, fallback=tmp_path / "b") as two:
            await counted.all_through([one, two], keys, 32)

    thread = threading.Thread(target=stop_for_a_while)
    thread.start()
    run(through_both())
    thread.join()

    assert set(counted.asked) == set(keys)
    assert sum(counted.asked.values()) <= 400 + 32
    assert statistics_of(url).entries == 400


def test_claims_of_a_lost_session_are_taken_again(postgres, url, cache):
    asked = []

    async def slow() -> Reply:
        asked.append("slow")
        await asyncio.sleep(1.5)
        return Reply(text="paid for", model="m")

    async def lose_the_session():
        async with opened(url) as other:
            first = asyncio.create_task(once(cache, "key", slow))
            await asyncio.sleep(0.2)
            second = asyncio.create_task(once(other, "key", slow))
            await asyncio.to_thread(
                postgres.run,
                "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted",
                url,
            )
            return await first, await second

    first, second = run(lose_the_session())

    assert (first.text, second.text) == ("paid for", "paid for")
    assert len(asked) <= 2  # the other may have been quicker than the new session


def test_a_lost_session_reconnects_at_once_and_takes_its_claims_again(postgres, url, cache):
    holders = "select pid from pg_locks where locktype = 'advisory' and granted"

    async def lose_the_session():
        task = asyncio.create_task(once(cache, "key", never))
        await asyncio.to_thread(wait_for, lambda: postgres.run(holders, url))
        first = postgres.run(holders, url)
        postgres.run(f"select pg_terminate_backend({first})", url)
        await asyncio.to_thread(wait_for, lambda: postgres.run(holders, url) not in ("", first))
        task.cancel()

    run(lose_the_session())
    wait_for(lambda: postgres.run(holders, url) == "")


def test_after_the_outage_timeout_paid_replies_can_be_imported_from_the_fallback_cache(postgres, url, tmp_path):
    fallback = tmp_path / "deep" / "fallback.sqlite"
    login = url.replace("postgres@", f"postgres:{quote(SECRET, safe='')}@")

    async def several(cache):
        all_asking = asyncio.Barrier(5)

        async def stop_and_answer(number: int) -> Reply:
            await all_asking.wait()
            if number == 0:
                await asyncio.to_thread(postgres.stop)
            else:
                await asyncio.sleep(number / 5)
            return Reply(text=f"paid for {number}", model="m")

        tasks = [once(cache, f"key-{number}", partial(stop_and_answer, number)) for number in range(5)]
        return await asyncio.gather(*tasks, return_exceptions=True)

    async def lose_the_server():
        async with opened(login, fallback=fallback, outage_timeout_s=0.3) as cache:
            errors = await several(cache)
            with pytest.raises(CacheError, match="gave up after"):
                await once(cache, "another", never)
            return errors

    try:
        errors = run(lose_the_server())
    finally:
        postgres.start()

    for error in errors:
        line = str(error)
        assert (error.fallback, error.cache) == (fallback, url)
        assert re.search(r"connection refused.*\(gave up after 0\.3 s\)\. Paid replies are stored in", line)
        assert "geheim" not in line
        assert "\n" not in line
    with JudgeCache(fallback) as stored:
        assert [stored.get_reply(f"key-{number}").text for number in range(5)] == [f"paid for {n}" for n in range(5)]
    assert import_entries(url, fallback).new == 5

    async def ask_again():
        async with opened(url) as cache:
            return await once(cache, "key-3", never)

    assert run(ask_again()).text == "paid for 3"


def test_an_unwritable_fallback_cache_is_part_of_the_error(postgres, url, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    async def put_without_server():
        async with opened(url, fallback=tmp_path / "file" / "fallback.sqlite", outage_timeout_s=0.1) as cache:
            await asyncio.to_thread(postgres.stop)
            with pytest.raises(
                CacheError, match=r"gave up after .* cannot be stored locally either: .*cannot be created"
            ):
                await cache.put("key", Reply(text="x", model="m"))

    try:
        run(put_without_server())
    finally:
        postgres.start()


@pytest.mark.parametrize("closes", [True, False])
def test_pending_writes_at_the_end_are_stored_in_the_fallback_cache_with_a_warning(postgres, url, tmp_path, closes):
    fallback = tmp_path / "fallback.sqlite"
    cache = PostgresCache(url, fallback=fallback)

    async def cancel_while_waiting():
        await cache.connect()
        task = asyncio.create_task(once(cache, "key", answer_without_server))
        await asyncio.to_thread(wait_for, fallback.exists)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if closes:
            await cache.aclose()

    async def answer_without_server() -> Reply:
        await asyncio.to_thread(postgres.stop)
        return Reply(text="paid for", model="m")

    try:
        with pytest.warns(UserWarning, match="Paid replies are stored in .*fallback.sqlite\\. Import them into"):
            run(cancel_while_waiting())
    finally:
        postgres.start()
    with JudgeCache(fallback) as stored:
        assert stored.get_reply("key").text == "paid for"


def test_a_missing_table_does_not_lose_replies(postgres, url, tmp_path):
    fallback = tmp_path / "fallback.sqlite"

    async def put_without_table():
        async with opened(url, fallback=fallback) as cache:
            await asyncio.to_thread(postgres.run, "drop table polyjudge_entries", url)
            with pytest.raises(
                CacheError, match=r"does not exist any more.*stored in .*fallback\.sqlite\. Import them"
            ):
                await cache.put("key", Reply(text="paid for", model="m"))

    run(put_without_table())
    with JudgeCache(fallback) as stored:
        assert stored.get_reply("key").text == "paid for"


KEEP_PUTTING = """
import asyncio, sys
from polyjudge import Reply
from polyjudge.cache.protocol import open_cache
from polyjudge.providers.caching import once

async def main(url, name):
    cache = await open_cache(url)
    async def one(number):
        async def ask():
            return Reply(text="x" * 500, model="m")
        await once(cache, f"{name}-{number}", ask)
        sys.stdout.write(f"{name}-{number}\\n")
        sys.stdout.flush()
    start = 0
    while True:
        await asyncio.gather(*(one(number) for number in range(start, start + 8)))
        start += 8

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_kill_loses_no_acknowledged_entry_and_leaves_no_claim(postgres, url, cache, tmp_path):
    acknowledged: list[str] = []
    for kill in range(4):
        log = tmp_path / f"log-{kill}"
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen([sys.executable, "-c", KEEP_PUTTING, url, str(kill)], stdout=file, cwd=tmp_path)
            wait_for(partial(_has_output, log))
            process.send_signal(signal.SIGKILL)
            process.wait()
        # The last line may be half written: the pipe is not the cache.
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        acknowledged += [line.strip() for line in lines if line.endswith("\n")]

    async def read_all():
        return await asyncio.gather(*(cache.get(key) for key in acknowledged))

    assert None not in run(read_all())
    wait_for(lambda: locks(postgres, url) == 0)


def _has_output(log) -> bool:
    return log.stat().st_size > 100


def test_a_claim_of_a_killed_process_is_released_at_once(url, cache, tmp_path):
    script = (
        "import asyncio, sys\nfrom polyjudge.cache.protocol import cache_at\n"
        "from polyjudge.providers.caching import once\n"
        "async def ask():\n    print('asking', flush=True)\n    await asyncio.Event().wait()\n"
        "asyncio.run(once(cache_at(sys.argv[1]), 'key', ask))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, url], stdout=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"asking\n"

    async def ask_after_the_kill():
        waiting = asyncio.create_task(once(cache, "key", answer))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        process.kill()
        return await waiting

    assert run(ask_after_the_kill()).text == "answer"
    process.wait()
    process.stdout.close()


def test_no_session_remains_even_if_a_cache_is_not_closed(postgres, url):
    sessions = "select count(*) from pg_stat_activity where application_name = 'polyjudge'"

    async def drop_a_cache():
        await open_cache(url)  # and the loop continues
        gc.collect()
        await asyncio.to_thread(wait_for, lambda: postgres.run(sessions) == "0")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_and_close(url)
        run(open_cache(url))
        run(drop_a_cache())
        with pytest.raises(CacheError):
            run(open_cache(postgres.url("no_such_database")))

    wait_for(lambda: postgres.run(sessions) == "0")
