import { createSecretKey, generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { leased } from "../../test/support/transport-recorder.ts";
import { prepare } from "./compose.ts";
import type { TransportEvents } from "./transport.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

const options = {
  findIdentity: async () => ({
    signingKey: { domain: "sender.test", selector: "mail", privateKey },
    returnPathHost: "bounce.test",
  }),
  returnPathKey: createSecretKey(Buffer.alloc(32, 1)),
};

it("composes 32 messages at a time, and the others when their turn comes", async () => {
  let begun = 0;
  const content = () => {
    begun++;
    return {
      fromName: null,
      toName: null,
      subject: "Hello",
      html: null,
      text: "Hello",
      attachments: [],
      headers: [],
      returnPathHost: null,
    };
  };
  const messages = Array.from({ length: 100 }, (_, at) =>
    leased(`user${at}`, { has_content: false, content }),
  );
  const composed = messages.map((message) => prepare(message, options, {} as TransportEvents));

  // Behind all that can be done without another thread: no signature has come back yet.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(begun).toBe(32);

  const recipients = (await Promise.all(composed)).map((one) => one?.rcptTo);
  expect(recipients).toEqual(messages.map(({ localpart }) => `${localpart}@example.test`));
});
