import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { isAlive } from "./alive.ts";

test("a process lives until it has ended", async () => {
  expect(isAlive(process.pid)).toBe(true);
  const child = spawn("true");
  await once(child, "exit");
  expect(isAlive(child.pid ?? 0)).toBe(false);
});

test("a process of another user is alive, too", () => {
  expect(isAlive(1)).toBe(true);
});

test("a process that has ended is dead, even if it was not reaped", async () => {
  // The shell becomes a program that knows nothing of the shell's child.
  const shell = spawn("sh", ["-c", "true & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void shell.kill());
  const [pid] = (await once(shell.stdout, "data")) as [Buffer];
  await eventually("its end to be seen", async () => !isAlive(Number(pid)));
});
