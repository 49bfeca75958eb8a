import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";

test("after repeated SIGTERM to every process the open SMTP session ends normally", async () => {
  await using mx = await startFakeMx({ slowMs: 3_000 });
  await using scene = await openScene({
    env: { SMTP_PORT: String(mx.port) },
    zone: mailDomain("example.test"),
  });
  const id = await scene.send("slow@example.test");
  await mx.waitForMessages(1);

  const { pid } = scene.program;
  const everybody = setInterval(() => process.kill(-pid, "SIGTERM"), 200);
  const ended = await scene.program.kill("SIGTERM");
  clearInterval(everybody);
  expect(ended).toEqual([0, null]);
  expect(await scene.database.row(sql`select status from messages where id = ${id}`)).toEqual({
    status: "delivered",
  });
  expect(await scene.database.rows(sql`select from delivery_queue`)).toEqual([]);
  await eventually("all processes to exit", async () => !isThere(-pid));
});

test("a stalled upload does not delay the stop", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-stop-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await using scene = await openScene({ env: { DATA_DIR: dataDir } });
  const { program } = scene;
  const { body } = await program.call("POST", "/mailing-lists", { name: "June" });
  const socket = connect(Number(new URL(program.url).port), "127.0.0.1");
  socket.on("error", () => {});
  const headers = [
    `POST /api/v1/mailing-lists/${body.data.id}/subscribers/import-async HTTP/1.1`,
    "Host: x",
    `X-API-Key: efk_${"e2e0".repeat(10)}`,
    "Content-Type: multipart/form-data; boundary=x",
    "Content-Length: 40000000",
  ];
  const part = ["--x", 'Content-Disposition: form-data; name="csvFile"; filename="june.csv"', "", "Email"];
  socket.write([...headers, "", ...part].join("\r\n"));
  const answer = text(socket);
  const uploads = () => readdir(join(dataDir, "uploads")).catch(() => []);
  await eventually("the upload to begin", async () => (await uploads()).length === 1);
  const begun = performance.now();
  expect(await program.kill("SIGTERM")).toEqual([0, null]);
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(await answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(await uploads()).toEqual([]);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
