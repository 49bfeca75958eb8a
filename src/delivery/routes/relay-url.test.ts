import { expect, test } from "vitest";
import { readRelay } from "./relay-url.ts";

test.each([
  [
    "smtp://relay.example.test",
    { host: "relay.example.test", port: 25, implicitTls: false, credentials: undefined },
  ],
  ["smtps://relay.example.test", { port: 465, implicitTls: true }],
  ["smtp://relay.example.test:587", { port: 587, implicitTls: false }],
  ["smtp://192.0.2.1", { host: "192.0.2.1" }],
  ["smtp://[2001:db8::1]:2525", { host: "2001:db8::1", port: 2525 }],
  [
    "smtp://me%40example.test:p%3As%2Fs@relay.test",
    { credentials: { user: "me@example.test", password: "p:s/s" } },
  ],
  ["smtp://me:50%25@relay.test", { credentials: { user: "me", password: "50%" } }],
  ["smtp://me:50%@relay.test", { credentials: { user: "me", password: "50%" } }],
  ["smtp://me@relay.test", { credentials: { user: "me", password: "" } }],
])("%s", (url, relay) => {
  expect(readRelay(new URL(url))).toMatchObject(relay);
});
