/** An independent smart host (smtp-server) with one account, "shop". */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export const password = "p@ss/word%";

interface Relayed {
  readonly user: unknown;
  readonly to: string | undefined;
  readonly message: string;
}

export interface SmartHost {
  readonly port: number;
  readonly relayed: readonly Relayed[];
  readonly logIns: () => number;
  readonly close: () => Promise<void>;
}

export async function startSmartHost(
  options: Pick<SMTPServerOptions, "authMethods"> = {},
): Promise<SmartHost> {
  const relayed: Relayed[] = [];
  let logIns = 0;
  const server = new SMTPServer({
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    ...options,
    onAuth(given, _session, done) {
      logIns += 1;
      if (given.username === "shop" && given.password === password) done(null, { user: "shop" });
      else done(new Error("Invalid username or password"));
    },
    onData(stream, { user, envelope }, done) {
      void text(stream).then((message) => {
        relayed.push({ user, to: envelope.rcptTo[0]?.address, message });
        done();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(resolve));
  return { port, relayed, logIns: () => logIns, close };
}
