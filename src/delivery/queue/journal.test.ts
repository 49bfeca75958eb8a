import { appendFileSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { unclassified } from "../../messages/outcome.ts";
import { asWorkspaceId, newId } from "../../platform/ids.ts";
import type { Conclusion } from "./conclusion.ts";
import { openJournal, readJournal } from "./journal.ts";

const owner = { workerId: newId(), pid: process.pid };
const due = new Date("2026-11-22T09:30:00.250Z");
const about = { workspaceId: asWorkspaceId(newId()), messageId: newId() };
const deferred: Conclusion = {
  settlement: { ...about, leaseNumber: 3, attempts: 2, dueAt: due, isDelivered: false },
  outcome: {
    ...about,
    ...unclassified,
    status: "deferred",
    time: new Date("2026-11-22T09:00:00.125Z"),
    attempts: 2,
    nextAttemptAt: due,
    mxHost: "mx.example.test",
    code: 451,
    enhancedCode: "4.7.1",
    isAddressFault: false,
    detail: "451 4.7.1 later, \u2028 please",
  },
};
const waiting: Conclusion = { settlement: { ...deferred.settlement, dueAt: null }, outcome: null };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
});

test("a journal gives back what was learned, its moments too", async () => {
  const journal = openJournal(folder, owner);
  expect([deferred, waiting].map((one) => journal.append(one))).toEqual([true, true]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([deferred, waiting]);
});

test("one of a version that wrote moments as text is read as well, and a line cut short is left out", async () => {
  openJournal(folder, owner);
  const [file = ""] = await readdir(folder);
  appendFileSync(join(folder, file), `${JSON.stringify(deferred)}\n{"settlement":{"wor`);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([deferred]);
});
