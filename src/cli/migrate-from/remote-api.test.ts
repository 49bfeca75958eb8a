import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import { type ProductAnswer, startProduct } from "#test/support/migration.ts";
import { RemoteApi } from "./remote-api.ts";

const Shape = Type.Object({ name: Type.String() });

/** An API that gives these answers in their order, and the last one again and again. */
async function apiThatAnswers(...answers: readonly ProductAnswer[]) {
  let at = 0;
  const product = await startProduct(() => answers[Math.min(at++, answers.length - 1)] ?? {});
  const headers = { Authorization: "token s3cret" };
  const api = new RemoteApi({ name: "Shop", base: new URL(product.url), headers, secretName: "SHOP_KEY" });
  return { api, product };
}

const later = (status: number): ProductAnswer => ({ status, headers: { "Retry-After": "0" } });
const good: ProductAnswer = { body: { name: "Ann" } };

test("a call is repeated after 429 and faults of the server, as soon as Retry-After says", async () => {
  const { api, product } = await apiThatAnswers(later(429), later(503), later(500), good);
  expect(await api.get("/people", Shape, { page: 2 })).toEqual({ name: "Ann" });
  expect(product.requests.map(({ query }) => query.get("page"))).toEqual(["2", "2", "2", "2"]);
});

test("a call that may have created something is repeated after 429 only", async () => {
  const created = await apiThatAnswers(later(429), good);
  expect(await created.api.post("/people", Shape, { body: { name: "Ann" } })).toEqual({ name: "Ann" });
  const failed = await apiThatAnswers(later(500), good);
  await expect(failed.api.post("/people", Shape, { body: {} })).rejects.toThrow(
    "Shop answered /people with HTTP 500",
  );
  expect(failed.product.requests.length).toBe(1);
});

test("a wait of hours is not sat out", async () => {
  const { api } = await apiThatAnswers({ status: 429, headers: { "Retry-After": "7200" } });
  await expect(api.get("/people", Shape)).rejects.toThrow(
    /asks to wait for 7200 seconds: run the command again then/,
  );
});

test("a redirect is not followed, so the secret stays with its host", async () => {
  const { product: elsewhere } = await apiThatAnswers(good);
  const { api } = await apiThatAnswers({ status: 302, headers: { Location: elsewhere.url } });
  await expect(api.get("/people", Shape)).rejects.toThrow(/Shop redirects .*: give the final address/);
  expect(elsewhere.requests).toEqual([]);
});

test("a file on another host is asked for without the secret", async () => {
  const { api, product } = await apiThatAnswers(good);
  const { product: files } = await apiThatAnswers({ body: Buffer.from("email\n") });
  await api.download(new URL(`${files.url}/a.csv`), "/dev/null");
  await api.download(new URL(`${product.url}/a.csv`), "/dev/null");
  expect([...files.requests, ...product.requests].map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    "token s3cret",
  ]);
});

test("a download that breaks off is repeated from its start", async () => {
  const cut = { headers: { "Content-Length": "9", Connection: "close" }, body: Buffer.from("ema") };
  const { api, product } = await apiThatAnswers(cut, { body: Buffer.from("email\na@x") });
  const folder = await mkdtemp(join(tmpdir(), "posthaste-download-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await api.download(new URL(`${product.url}/a.csv`), join(folder, "a.csv"));
  expect(await readFile(join(folder, "a.csv"), "utf8")).toBe("email\na@x");
  expect(product.requests.length).toBe(2);
});

test("a download that cannot be written is not repeated", async () => {
  const { api, product } = await apiThatAnswers({ body: Buffer.from("email\n") });
  const path = join(tmpdir(), "posthaste-no-such-folder", "a.csv");
  await expect(api.download(new URL(`${product.url}/a.csv`), path)).rejects.toThrow("ENOENT");
  expect(product.requests.length).toBe(1);
});

test.each<[string, ProductAnswer, string]>([
  ["that is no JSON", { body: Buffer.from("<html>") }, "something other than JSON: check the address"],
  ["of another shape", { body: { name: 7 } }, "in a form that is not known (/name must be string)"],
  ["that is null", { body: null }, "in a form that is not known (the whole must be object)"],
  [
    "401 with a reason",
    { status: 401, body: { detail: "expired\u0000" } },
    "refused the key of SHOP_KEY for /people: expired",
  ],
  [
    "400 with many reasons",
    { status: 400, body: { errors: [{ message: "bad page" }] } },
    "with HTTP 400: bad page",
  ],
])("an answer %s is a sentence", async (_, answer, sentence) => {
  const { api } = await apiThatAnswers(answer);
  await expect(api.get("/people", Shape)).rejects.toThrow(sentence);
});
