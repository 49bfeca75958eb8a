import { createTransport } from "nodemailer";
import { expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, startFakeMx } from "./fake-mx.ts";

/** A fake MX and an independent client (nodemailer). */
const startWithClient = async (options: FakeMxOptions = {}) => {
  const mx = await startFakeMx(options);
  const client = createTransport({
    host: "127.0.0.1",
    port: mx.port,
    ignoreTLS: options.tls === undefined,
    tls: { rejectUnauthorized: false },
  });
  onTestFinished(async () => {
    client.close();
    await mx.close();
  });
  const send = (localPart: string) =>
    client.sendMail({
      envelope: { from: "b@bounce.test", to: `${localPart}@example.test` },
      raw: `Message-ID: <${localPart}@x.test>\r\n\r\n.dots\r\n..\r\n.\r\n`,
    });
  return { mx, send };
};

test("a message from an independent client is kept as it was before dot-stuffing", async () => {
  const { mx, send } = await startWithClient({ tls: "offered" });
  const [messages] = await Promise.all([mx.waitForMessages(1), send("ann")]);
  expect(messages).toMatchObject([
    { mailFrom: "b@bounce.test", rcptTo: "ann@example.test", tls: true, connection: 1 },
  ]);
  expect(messages[0]?.raw.toString()).toBe("Message-ID: <ann@x.test>\r\n\r\n.dots\r\n..\r\n.\r\n");
});

test("with keep: false messages are counted by Message-ID", async () => {
  const { mx, send } = await startWithClient({ keep: false });
  for (const name of ["ann", "bob", "ann"]) await send(name);
  await mx.waitForMessages(3);
  expect([...mx.copies]).toEqual([
    ["<ann@x.test>", 2],
    ["<bob@x.test>", 1],
  ]);
  expect(mx.messages).toEqual([]);
});

test.each([
  ["tempfail", /451 4\.3\.0/],
  ["tempfail9", /451/],
  ["tempfail+tag", /451/],
  ["unknown.x", /550 5\.1\.1/],
  ["reject-at-dot", /554 5\.7\.1/],
])("%s@ is refused", async (name, text) => {
  const { mx, send } = await startWithClient();
  await expect(send(name)).rejects.toThrow(text);
  expect(mx.received).toBe(0);
});

test.each(["tempfailure", "constructor", "x-unknown"])("%s@ has no script and is accepted", async (name) => {
  const { mx, send } = await startWithClient();
  await send(name);
  expect(mx.received).toBe(1);
});

test.each(["greylist", "greylist+7", "unknown-once", "reject-at-dot-once"])(
  "%s@ is refused at the first attempt of each recipient",
  async (name) => {
    const { mx, send } = await startWithClient();
    await expect(send(name)).rejects.toThrow();
    await send(name);
    expect(mx.received).toBe(1);
  },
);
