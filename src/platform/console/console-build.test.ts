import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ConsoleBuild } from "./console-build.ts";

let checkout: string;
let build: ConsoleBuild;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), "console-build-"));
  onTestFinished(() => rm(checkout, { recursive: true, force: true }));
  await mkdir(join(checkout, "console/src"), { recursive: true });
  for (const path of ["openapi.json", "console/index.html", "console/src/main.tsx"])
    await writeFile(join(checkout, path), path);
  build = new ConsoleBuild(`${checkout}/`);
});

const page = () => readFile(join(build.folder, "index.html"), "utf8").catch(() => undefined);
/** What a build writes; `text` tells one from another. */
const bundle = (text: string) => async (folder: string) => {
  await mkdir(folder);
  await writeFile(join(folder, "index.html"), text);
};
const leftovers = () => readdir(join(checkout, "console/.build"));

test("a missing build is made, and one of the same sources is kept", async () => {
  expect(await build.isStale()).toBe(true);
  expect(await build.renew(bundle("first"))).toBe(true);
  expect(await build.isStale()).toBe(false);
  expect(await build.renew(bundle("second"))).toBe(false);
  expect([await page(), await leftovers()]).toEqual(["first", []]);
});

test.each(["openapi.json", "console/src/main.tsx", "console/src/new.tsx", "clients/typescript/src/call.ts"])(
  "a change of %s makes the build stale",
  async (path) => {
    await build.renew(bundle("first"));
    await mkdir(join(checkout, path, ".."), { recursive: true });
    await writeFile(join(checkout, path), "changed");
    expect(await build.isStale()).toBe(true);
    expect(await build.renew(bundle("second"))).toBe(true);
    expect(await page()).toBe("second");
  },
);

test("a file that is removed makes the build stale", async () => {
  await build.renew(bundle("first"));
  await rm(join(checkout, "console/src/main.tsx"));
  expect(await build.isStale()).toBe(true);
});

test("a build that fails leaves the former one, nothing half, and no lock", async () => {
  await build.renew(bundle("first"));
  await writeFile(join(checkout, "openapi.json"), "changed");
  const failing = async (folder: string) => {
    await bundle("half")(folder);
    throw new Error("no");
  };
  await expect(build.renew(failing)).rejects.toThrow("no");
  expect([await page(), await build.isStale(), await build.isUnderWay()]).toEqual(["first", true, false]);
  expect(await build.renew(bundle("second"))).toBe(true);
  expect([await page(), await leftovers()]).toEqual(["second", []]);
});

test("programs that start together build once", async () => {
  let builds = 0;
  const counted = async (folder: string) => {
    builds += 1;
    expect(await build.isUnderWay()).toBe(true);
    await delay(50);
    await bundle("once")(folder);
  };
  const made = await Promise.all(Array.from({ length: 5 }, () => build.renew(counted)));
  expect([builds, made.filter(Boolean).length, await page()]).toEqual([1, 1, "once"]);
});

test("a build that was killed is begun again, and its files are removed", async () => {
  const child = spawn("true");
  await once(child, "exit");
  await mkdir(join(checkout, "console/.build/new-1"), { recursive: true });
  await symlink(String(child.pid), join(checkout, "console/.build/lock"));
  expect(await build.isUnderWay()).toBe(false);
  expect(await build.renew(bundle("whole"))).toBe(true);
  expect([await page(), await leftovers()]).toEqual(["whole", []]);
});

test("a build without its sources, as in an image, is never stale", async () => {
  await build.renew(bundle("first"));
  const image = `${checkout}/image/`;
  await cp(build.folder, join(image, "console/dist"), { recursive: true });
  const shipped = new ConsoleBuild(image);
  expect([await shipped.isStale(), await shipped.renew(bundle("second")), shipped.builder]).toEqual([
    false,
    false,
    undefined,
  ]);
});
