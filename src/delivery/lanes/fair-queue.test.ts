import { expect, test } from "vitest";
import type { Priority } from "#delivery/message/message.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { FairQueue } from "./fair-queue.ts";
import type { Destination } from "./lanes-by-mx-host.ts";

const [a, b, c] = [asWorkspaceId(newId()), asWorkspaceId(newId()), asWorkspaceId(newId())];
const to = (site: string) => ({ site }) as Destination;
const load = (who: string, workspace_id = a, priority: Priority = 1, site = "mx.test") => ({
  message: leased(who, { workspace_id, priority }),
  destination: to(site),
});
const takeAll = (line: FairQueue, site?: string) => {
  const taken: string[] = [];
  for (let next = line.take(() => true, site); next; next = line.take(() => true, site)) {
    taken.push(next.message.localpart);
  }
  return taken;
};

test("workspaces take turns, and each one's messages keep their order", () => {
  const line = new FairQueue();
  for (const who of ["a1", "a2", "a3", "a4"]) line.add(load(who, a));
  for (const who of ["b1", "b2"]) line.add(load(who, b));
  line.add(load("c1", c));
  expect(takeAll(line)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  expect(line.length).toBe(0);
});

test("transactional mail of any workspace goes before bulk mail", () => {
  const line = new FairQueue();
  line.add(load("bulk", b));
  line.add(load("urgent", a, 0));
  expect([line.length, line.bulkLength]).toEqual([2, 1]);
  expect(takeAll(line)).toEqual(["urgent", "bulk"]);
});

test("messages for the site of a session go first, and a message that cannot go keeps its place", () => {
  const line = new FairQueue();
  line.add(load("a1", a, 1, "other.test"));
  line.add(load("a2", a, 1, "mx.test"));
  line.add(load("b1", b, 1, "other.test"));
  const isOpen = ({ destination }: { destination: Destination }) => destination.site === "mx.test";
  expect(line.take(isOpen, "mx.test")?.message.localpart).toBe("a2");
  expect(line.take(isOpen, "mx.test")).toBeUndefined();
  expect(takeAll(line)).toEqual(["b1", "a1"]);
});

test("the message that does not fit is the last one of the workspace with the most messages", () => {
  const line = new FairQueue();
  for (const who of ["a1", "a2", "a3"]) line.add(load(who, a));
  line.add(load("b1", b));
  expect([1, 2, 3, 4, 5].map(() => line.takeLast()?.message.localpart)).toEqual([
    "a3",
    "a2",
    "a1",
    "b1",
    undefined,
  ]);
});
