/** A server on loopback that follows a script, for dialogues that the fake MX cannot produce. */
import { type AddressInfo, createServer, type Socket } from "node:net";

/** The server's end of a connection. */
export interface Peer {
  /** Resolves to all input since the last call as soon as it contains `text`. Without `text` it never resolves. */
  readonly hear: (text: string) => Promise<string>;
  /** Sends octets (latin1) as one segment. */
  readonly say: (octets: string) => void;
  readonly socket: Socket;
}

export interface ScriptedPeer {
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Listens on a free port and runs the script on every connection. */
export async function startScriptedPeer(play: (peer: Peer) => Promise<void>): Promise<ScriptedPeer> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let heard = "";
    let onHeard = () => {};
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      onHeard();
    });
    const hear = (text: string) =>
      new Promise<string>((resolve) => {
        onHeard = () => {
          if (!heard.includes(text)) return;
          onHeard = () => {};
          resolve(heard);
          heard = "";
        };
        onHeard();
      });
    void play({ hear, say: (octets) => socket.write(octets, "latin1"), socket });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
