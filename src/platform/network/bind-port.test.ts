import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { bindPort } from "./bind-port.ts";

const config = {
  HOST: "127.0.0.1",
  PORT: 8080,
  INBOUND_HOST: null,
  INBOUND_PORT: 2525,
  SUBMISSION_PORT: 2525,
  SUBMISSIONS_PORT: null,
  HEALTH_PORT: 8080,
};
const fault = (code: string) => Promise.reject(Object.assign(new Error(`listen ${code}`), { code }));

test("a port that another program has is named with its setting and what to do", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const late = createServer().listen(port, "127.0.0.1");
  await expect(
    bindPort({ ...config, INBOUND_PORT: port }, "INBOUND_PORT", once(late, "listening")),
  ).rejects.toThrow(
    `INBOUND_PORT: 127.0.0.1:${port} is in use by another program. Stop it, or set another INBOUND_PORT.`,
  );
});

test.each([
  [
    "PORT",
    "EADDRINUSE",
    {},
    /^PORT: 127\.0\.0\.1:8080 is in use by another program\. .* set another PORT\.$/,
  ],
  ["PORT", "EADDRINUSE", { HOST: "::1" }, /^PORT: \[::1\]:8080 is in use/],
  [
    "SUBMISSION_PORT",
    "EADDRINUSE",
    {},
    /^SUBMISSION_PORT: 127\.0\.0\.1:2525 is already the port of INBOUND_PORT/,
  ],
  [
    "INBOUND_PORT",
    "EACCES",
    { INBOUND_HOST: "0.0.0.0" },
    /^INBOUND_PORT: .* may not listen on 0\.0\.0\.0:2525\. Set a port from 1024/,
  ],
  [
    "INBOUND_PORT",
    "EADDRNOTAVAIL",
    { INBOUND_HOST: "192.0.2.1" },
    /^INBOUND_HOST: this machine has no address 192\.0\.2\.1/,
  ],
  ["INBOUND_PORT", "EADDRNOTAVAIL", { HOST: "192.0.2.1" }, /^HOST: this machine has no address 192\.0\.2\.1/],
  [
    "HEALTH_PORT",
    "EADDRINUSE",
    { INBOUND_HOST: "0.0.0.0" },
    /^HEALTH_PORT: 127\.0\.0\.1:8080 is in use by another program/,
  ],
  ["PORT", "ENOTFOUND", { HOST: "no.example" }, /^HOST: the name no\.example has no address/],
  ["PORT", "EMFILE", {}, /^PORT: 127\.0\.0\.1:8080 cannot be used: listen EMFILE/],
] as const)("%s with %s and %o has a sentence for the operator", async (setting, code, hosts, expected) => {
  await expect(bindPort({ ...config, ...hosts }, setting, fault(code))).rejects.toThrow(expected);
});

test("a port that listens is passed on", async () => {
  expect(await bindPort(config, "PORT", Promise.resolve("http://127.0.0.1:8080"))).toBe(
    "http://127.0.0.1:8080",
  );
});
