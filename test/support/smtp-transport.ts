/** The real SMTP transport, with the fake MX as the destination of every route. */
import { createSecretKey } from "node:crypto";
import { onTestFinished } from "vitest";
import { defaultLane, type Lane } from "#delivery/lanes/default-lanes.ts";
import type { SessionSettings } from "#delivery/lanes/session-opener.ts";
import type { DecideEgress } from "#delivery/routes/egress.ts";
import type { FindRoute } from "#delivery/routes/find-destination.ts";
import { SmtpTransport } from "#delivery/smtp-transport.ts";
import { type FakeMxOptions, startFakeMx } from "./fake-mx.ts";
import { recordTransport } from "./transport-recorder.ts";

/** A route to the fake MX for every domain, each with a separate lane. */
export function routeTo(change: Partial<Lane>): FindRoute {
  const lane = { ...defaultLane, ...change };
  return async () => ({
    site: "mx.example.test",
    lane,
    hosts: [{ name: "mx.example.test", addresses: ["127.0.0.1"] }],
  });
}

/** Starts the transport; it stops after the test. */
export async function startSmtpTransport(
  findRoute: FindRoute,
  {
    mxOptions = {},
    decideEgress,
    options = {},
  }: {
    readonly mxOptions?: FakeMxOptions;
    readonly decideEgress?: DecideEgress;
    readonly options?: SessionSettings["options"];
  } = {},
) {
  const mx = await startFakeMx(mxOptions);
  const recorder = recordTransport();
  const transport = new SmtpTransport(
    {
      findRoute,
      ...(decideEgress && { decideEgress }),
      session: { port: mx.port, ehloName: "out.sender.test", options },
      composing: {
        findIdentity: async () => ({ signingKey: null, returnPathHost: "bounce.sender.test" }),
        returnPathKey: createSecretKey(Buffer.alloc(32, 7)),
      },
    },
    recorder,
  );
  onTestFinished(async () => {
    recorder.answer = () => false;
    transport.close();
    await mx.close();
  });
  return { mx, recorder, transport };
}
