import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newSigningSecret, signatureHeaders } from "./signature.ts";

test("a signature is verified by the standardwebhooks library, whatever the body", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.json(), (id, body) => {
      const secret = newSigningSecret();
      const headers = signatureHeaders({ id, time: new Date(), body }, [secret]);
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }),
  );
});

test("a changed delivery is not verified", () => {
  const secret = newSigningSecret();
  const headers = signatureHeaders({ id: "a", time: new Date(), body: "{}" }, [secret]);
  expect(() => new Webhook(secret).verify('{"a":1}', headers)).toThrow();
  expect(() => new Webhook(secret).verify("{}", { ...headers, "webhook-id": "b" })).toThrow();
  expect(() => new Webhook(newSigningSecret()).verify("{}", headers)).toThrow();
});

test("with two secrets either verifies", () => {
  const [old, young] = [newSigningSecret(), newSigningSecret()];
  const headers = signatureHeaders({ id: "a", time: new Date(), body: "{}" }, [young, old]);
  for (const secret of [old, young]) expect(new Webhook(secret).verify("{}", headers)).toEqual({});
});
