import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ChunkedSocket } from "./chunked-socket.ts";

async function connected() {
  const received: Buffer[] = [];
  const server = createServer((peer) =>
    peer.on("data", (octets) => received.push(Buffer.from(octets))),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = new ChunkedSocket();
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const allReceived = async () => {
    const [peer] = await once(server, "connection");
    await once(peer, "end");
    return Buffer.concat(received);
  };
  return { socket, allReceived };
}

test("many megabytes are written in chunks, and other work runs between them", async () => {
  const { socket, allReceived } = await connected();
  const arrived = allReceived();
  await once(socket, "connect");
  const large = Buffer.alloc(16 * 1024 * 1024, "0123456789");
  let turns = 0;
  let isWritten = false;
  const count = () => {
    turns += 1;
    if (!isWritten) setImmediate(count);
  };
  socket.cork();
  socket.write("before\n");
  socket.write(large, () => {
    isWritten = true;
  });
  socket.write("behind\n");
  socket.uncork();
  setImmediate(count);
  socket.end("end\n");
  const all = await arrived;
  expect(all.equals(Buffer.concat([Buffer.from("before\n"), large, Buffer.from("behind\nend\n")]))).toBe(
    true,
  );
  expect(turns).toBeGreaterThanOrEqual(64);
});

test("small writes are sent together, and a large one completely", async () => {
  const { socket, allReceived } = await connected();
  const arrived = allReceived();
  socket.cork();
  socket.write("a");
  socket.write(Buffer.from("b"));
  socket.uncork();
  socket.end(Buffer.alloc(1024 * 1024, "c"));
  expect((await arrived).toString()).toBe(`ab${"c".repeat(1024 * 1024)}`);
});
