/**
 * An SMPP 3.4 service centre on loopback. A test sets its answers by destination number, and sends receipts through it.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import smpp, { type Pdu, type Session } from "smpp";

export interface Submitted {
  readonly id: string;
  readonly to: string;
  readonly pdu: Pdu;
}

export interface SmppServer extends AsyncDisposable {
  readonly port: number;
  readonly submitted: readonly Submitted[];
  /** Number of successful binds. */
  readonly binds: number;
  /** Answers the next messages to this number with these statuses, in order; "drop" closes the connection. */
  answer(to: string, ...answers: (number | "drop" | "silence")[]): void;
  /** Sends a receipt to a bound client, or to the one with this index; resolves to the status of its answer. */
  receipt(fields: Readonly<Record<string, unknown>>): Promise<number>;
  /** Closes all connections. */
  hangUp(): void;
}

export const PASSWORD = "secret";

export async function startSmppServer(port = 0): Promise<SmppServer> {
  const submitted: Submitted[] = [];
  const script = new Map<string, (number | "drop" | "silence")[]>();
  const bound = new Set<Session>();
  let binds = 0;
  const server = smpp.createServer((session) => {
    session.on("error", () => session.destroy());
    session.on("close", () => bound.delete(session));
    session.on("bind_transceiver", (pdu: Pdu) => {
      const isKnown = pdu.password === PASSWORD;
      // 0x0d is ESME_RBINDFAIL
      session.send(pdu.response(isKnown ? { system_id: "centre" } : { command_status: 0x0d }));
      if (!isKnown) return;
      binds += 1;
      bound.add(session);
    });
    session.on("submit_sm", (pdu: Pdu) => {
      const to = pdu.destination_addr ?? "";
      const answer = script.get(to)?.shift() ?? 0;
      if (answer === "drop") session.destroy();
      else if (answer === 0) {
        const id = `ID-${submitted.length + 1}`;
        submitted.push({ id, to, pdu });
        session.send(pdu.response({ message_id: id }));
      } else if (answer !== "silence") session.send(pdu.response({ command_status: answer }));
    });
    for (const command of ["enquire_link", "unbind"]) {
      session.on(command, (pdu: Pdu) => session.send(pdu.response()));
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const hangUp = () => {
    for (const session of server.sessions) session.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    submitted,
    get binds() {
      return binds;
    },
    answer: (to, ...answers) => void script.set(to, answers),
    receipt(fields) {
      const [session] = bound;
      if (session === undefined) throw new Error("no client is bound");
      return new Promise((resolve) => {
        session.send(new smpp.PDU("deliver_sm", { esm_class: 4, ...fields }), (answer) =>
          resolve(answer.command_status),
        );
      });
    },
    hangUp,
    async [Symbol.asyncDispose]() {
      hangUp();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
