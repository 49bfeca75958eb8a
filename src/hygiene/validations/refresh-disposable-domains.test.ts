import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it, test } from "vitest";
import { parseDomain } from "#mail/address.ts";
import { createAddressLists, disposableFile, readBuiltIn } from "./disposable-and-role-lists.ts";
import { refreshDisposableDomains } from "./refresh-disposable-domains.ts";

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-lists-"));
const source = join(dataDir, "source.txt");
const domains = Array.from({ length: 200 }, (_, at) => `throw-away-${at}.test`);
let page: { readonly status: number; readonly body: string };
const server = createServer((_, response) => response.writeHead(page.status).end(page.body)).listen(
  0,
  "127.0.0.1",
);
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.txt`;
afterAll(async () => {
  server.close();
  await rm(dataDir, { recursive: true, force: true });
});
beforeEach(() => rm(join(dataDir, "lists"), { recursive: true, force: true }));

const isDisposable = async (domain: string) =>
  (await createAddressLists(dataDir, []).lookUp("a", domain, true)).isDisposable;

test("the built-in lists are well-formed", () => {
  const shipped = readBuiltIn("disposable-domains.txt");
  expect(shipped.length).toBeGreaterThan(8_000);
  expect(shipped.filter((domain) => !parseDomain(domain).ok)).toEqual([]);
  const roles = readBuiltIn("role-accounts.txt");
  expect(roles.filter((role) => !/^[a-z0-9]+$/.test(role))).toEqual([]);
  expect(roles.filter((role, at) => roles.indexOf(role) !== at)).toEqual([]);
  const rfc2142 = [
    "abuse",
    "noc",
    "security",
    "postmaster",
    "hostmaster",
    "usenet",
    "news",
    "webmaster",
    "www",
  ];
  const business = ["uucp", "ftp", "info", "marketing", "sales", "support"];
  expect(roles).toEqual(expect.arrayContaining([...rfc2142, ...business]));
});

test("a list from a file replaces the built-in one", async () => {
  expect([await isDisposable("mailinator.com"), await isDisposable("throw-away-7.test")]).toEqual([
    true,
    false,
  ]);
  await writeFile(source, `# newer\r\n${domains.join("\r\n")}\r\nthrow-away-1.TEST\r\n`);
  expect(await refreshDisposableDomains(dataDir, source)).toBe(200);
  expect([await isDisposable("mailinator.com"), await isDisposable("throw-away-7.test")]).toEqual([
    false,
    true,
  ]);
  expect(await isDisposable("deep.below.throw-away-7.test")).toBe(true);
  expect(await readdir(join(dataDir, "lists"))).toEqual(["disposable-domains.txt"]);
});

test("a free mailbox provider is not disposable, whatever a list says", async () => {
  await writeFile(source, [...domains, "gmail.com"].join("\n"));
  await refreshDisposableDomains(dataDir, source);
  expect([await isDisposable("gmail.com"), await isDisposable("throw-away-7.test")]).toEqual([false, true]);
});

test("a list from a URL", async () => {
  page = { status: 200, body: domains.join("\n") };
  expect(await refreshDisposableDomains(dataDir, url)).toBe(200);
});

it.each<[string, string, RegExp]>([
  ["a page of HTML", `<html>\n${"<p>text</p>\n".repeat(300)}</html>`, /0 domains/],
  ["a list of a few", "a.test\nb.test", /2 domains/],
  ["a table", [...domains, ...domains.map((domain) => `${domain},1`)].join("\n"), /200 of its 400 lines/],
  ["a list that is too large", `${domains.join("\n")}\n${"#".repeat(10 * 1024 ** 2)}`, /10 MB/],
])("%s is refused, and the old list stays", async (_name, body, sentence) => {
  await writeFile(source, domains.join("\n"));
  await refreshDisposableDomains(dataDir, source);
  const before = await readFile(disposableFile(dataDir), "utf8");
  page = { status: 200, body };
  await writeFile(source, body);
  for (const from of [url, source]) {
    await expect(refreshDisposableDomains(dataDir, from)).rejects.toThrow(sentence);
  }
  expect(await readFile(disposableFile(dataDir), "utf8")).toBe(before);
});

test("a list that cannot be read is refused with the reason", async () => {
  page = { status: 404, body: "" };
  await expect(refreshDisposableDomains(dataDir, url)).rejects.toThrow("its server answered 404");
  await expect(refreshDisposableDomains(dataDir, "http://127.0.0.1:1/")).rejects.toThrow(/cannot be fetched/);
  await expect(refreshDisposableDomains(dataDir, join(dataDir, "nothing"))).rejects.toThrow(/cannot be read/);
});
