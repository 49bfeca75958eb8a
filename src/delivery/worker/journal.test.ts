import { appendFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { DeliveryResult } from "#delivery/queue/decide-result.ts";
import { unclassified } from "#messages/message/outcome.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { Journal, readJournal } from "./journal.ts";

const owner = { workerId: newId(), pid: process.pid };
const due = new Date("2026-11-22T09:30:00.250Z");
const about = { workspaceId: asWorkspaceId(newId()), messageId: newId() };
const deferred: DeliveryResult = {
  settlement: {
    ...about,
    leaseNumber: 3,
    attempts: 2,
    dueAt: due,
    decidedAt: new Date("2026-11-22T09:00:00.125Z"),
    isDelivered: false,
  },
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
const waiting: DeliveryResult = { settlement: { ...deferred.settlement, dueAt: null }, outcome: null };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
});

test("a journal returns the results it was given, including their times", async () => {
  const journal = new Journal(folder, owner);
  expect([deferred, waiting].map((one) => journal.append(one))).toEqual([true, true]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([deferred, waiting]);
});

test("a line cut short is skipped", async () => {
  new Journal(folder, owner).append(deferred);
  const [file = ""] = await readdir(folder);
  appendFileSync(join(folder, file), '{"settlement":{"wor');
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([deferred]);
});

test("a shortened journal keeps the given results, until it is emptied", async () => {
  const journal = new Journal(folder, owner);
  for (const one of [deferred, waiting]) journal.append(one);
  journal.keepOnly([waiting]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([waiting]);
  journal.append(deferred);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([waiting, deferred]);
  journal.keepOnly([waiting]);
  journal.keepOnly([]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([]);
});

test("a journal that cannot be shortened stays as it was, until it can be", async () => {
  const journal = new Journal(folder, owner);
  journal.append(deferred);
  const [file = ""] = await readdir(folder);
  const obstacle = join(folder, `${file}.new`);
  await mkdir(obstacle);
  expect(() => journal.keepOnly([waiting])).toThrow();
  expect(journal.append(waiting)).toBe(true);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([deferred, waiting]);
  await rmdir(obstacle);
  journal.keepOnly([waiting]);
  journal.append(deferred);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([waiting, deferred]);
});

test("a removed journal stays removed, and shortening it does nothing", async () => {
  const journal = new Journal(folder, owner);
  journal.append(deferred);
  journal.remove();
  journal.keepOnly([waiting]);
  expect(await readdir(folder)).toEqual([]);
});
