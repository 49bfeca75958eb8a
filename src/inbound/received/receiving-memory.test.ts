import { expect, test } from "vitest";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { MIB } from "#platform/limits/limit.ts";
import { ReceivingMemory } from "./receiving-memory.ts";

test("a workspace leaves memory to others, and what is released can be used again", () => {
  const memory = new ReceivingMemory();
  const [busy, other, third] = [asWorkspaceId(newId()), asWorkspaceId(newId()), asWorkspaceId(newId())];
  const mails = [memory.of(busy), memory.of(busy)];
  expect(mails.map((mail) => mail.reserve(48 * MIB))).toEqual([true, true]);
  expect(memory.of(busy).reserve(1)).toBe(false);
  const others = memory.of(other);
  expect(others.reserve(40 * MIB)).toBe(true);
  // 160 MiB are for all: what does not fit takes nothing of its workspace's share.
  const last = memory.of(third);
  expect([last.reserve(30 * MIB), last.reserve(24 * MIB)]).toEqual([false, true]);
  mails[0]?.release(48 * MIB);
  expect(last.reserve(40 * MIB)).toBe(true);
});
