import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newSecret, signatureHeaders } from "./signature.ts";

test("others' code verifies what is signed here, whatever the body", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.json(), (id, body) => {
      const secret = newSecret();
      const headers = signatureHeaders({ id, time: new Date(), body }, [secret]);
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }),
  );
});

test("what was changed on the way is not verified", () => {
  const secret = newSecret();
  const headers = signatureHeaders({ id: "a", time: new Date(), body: "{}" }, [secret]);
  expect(() => new Webhook(secret).verify('{"a":1}', headers)).toThrow();
  expect(() => new Webhook(secret).verify("{}", { ...headers, "webhook-id": "b" })).toThrow();
  expect(() => new Webhook(newSecret()).verify("{}", headers)).toThrow();
});

test("with two secrets each of them verifies", () => {
  const [old, young] = [newSecret(), newSecret()];
  const headers = signatureHeaders({ id: "a", time: new Date(), body: "{}" }, [young, old]);
  for (const secret of [old, young]) expect(new Webhook(secret).verify("{}", headers)).toEqual({});
});
