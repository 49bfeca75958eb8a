/**
 * The PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt): a proxy in front of an SMTP port sends the
 * client's address first. Only proxies of the operator are believed, and those must send it. Read here, because
 * smtp-server knows version 1 alone, and proxy-protocol-js refuses version 1's UNKNOWN.
 */
import { isIP, type Socket } from "node:net";
import ipaddr from "ipaddr.js";

export interface ClientAddress {
  readonly address: string;
  readonly port: number;
}

const LINE_START = Buffer.from("PROXY ");
const LONGEST_LINE = 107;

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const PREFIX_OCTETS = 16;
/** Addresses, and the fields that some proxies add behind them. */
const MOST_OCTETS = 2_048;
/** Version 2, command PROXY. Command LOCAL is a connection of the proxy itself, such as a health check. */
const [LOCAL, PROXIED] = [0x20, 0x21];
/** Octets of an address, for TCP over IPv4 and over IPv6; no other family has a client for SMTP. */
const ADDRESS_OCTETS: ReadonlyMap<number | undefined, number> = new Map([
  [0x11, 4],
  [0x21, 16],
]);

/**
 * Reads the header from the socket and leaves what follows it.
 * @returns the client; null if the connection is the proxy's own, or it does not say whose
 * @throws Error if there is no valid header within the deadline
 */
export function readProxyHeader(socket: Socket, deadlineMs: number): Promise<ClientAddress | null> {
  return new Promise((resolve, reject) => {
    let octets: Buffer = Buffer.alloc(0);
    const end = () => {
      clearTimeout(timer);
      socket.off("readable", read).off("close", ended);
    };
    const fail = (reason: string) => {
      end();
      reject(new Error(`no PROXY header: ${reason}`));
    };
    const ended = () => fail("the connection ended");
    const timer = setTimeout(fail, deadlineMs, "none came in time");
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
        octets = Buffer.concat([octets, chunk]);
      try {
        const length = headerLength(octets);
        if (length === null || octets.length < length) return;
        const client = clientIn(octets.subarray(0, length));
        end();
        if (octets.length > length) socket.unshift(octets.subarray(length));
        resolve(client);
      } catch (fault) {
        fail((fault as Error).message);
      }
    };
    socket.on("readable", read).on("close", ended);
  });
}

/** Whether the first octets of a connection are those of a PROXY header, of version 1 or 2. */
export function isProxyHeader(octets: Buffer): boolean {
  const begins = (start: Buffer) => octets.subarray(0, start.length).equals(start);
  return begins(LINE_START) || begins(SIGNATURE);
}

/** Gives the socket the address of the client behind the proxy. */
export function showClient(socket: Socket, { address, port }: ClientAddress): void {
  Object.defineProperties(socket, { remoteAddress: { value: address }, remotePort: { value: port } });
}

/** Null until enough has come to know it. */
function headerLength(octets: Buffer): number | null {
  if (startsAlike(octets, SIGNATURE)) {
    if (octets.length < PREFIX_OCTETS) return null;
    const length = PREFIX_OCTETS + octets.readUInt16BE(PREFIX_OCTETS - 2);
    if (length > MOST_OCTETS) throw new Error("it is too long");
    return length;
  }
  if (!startsAlike(octets, LINE_START)) throw new Error("the connection begins with something else");
  const end = octets.subarray(0, LONGEST_LINE).indexOf("\r\n");
  if (end < 0 && octets.length >= LONGEST_LINE) throw new Error("it is too long");
  return end < 0 ? null : end + 2;
}

function startsAlike(octets: Buffer, start: Buffer): boolean {
  const length = Math.min(octets.length, start.length);
  return octets.subarray(0, length).equals(start.subarray(0, length));
}

function clientIn(header: Buffer): ClientAddress | null {
  return header[0] === SIGNATURE[0] ? clientOfVersion2(header) : clientOfVersion1(header.toString("latin1"));
}

function clientOfVersion1(line: string): ClientAddress | null {
  const [, family, address = "", , port = ""] = line.trimEnd().split(" ");
  if (family === "UNKNOWN") return null;
  const isKnown = (family === "TCP4" && isIP(address) === 4) || (family === "TCP6" && isIP(address) === 6);
  if (!isKnown || !/^\d{1,5}$/.test(port)) throw new Error("it has no address");
  return { address, port: Number(port) };
}

function clientOfVersion2(header: Buffer): ClientAddress | null {
  const command = header[12];
  if (command !== LOCAL && command !== PROXIED) throw new Error("it is of another version");
  const octets = ADDRESS_OCTETS.get(header[13]);
  if (command === LOCAL || octets === undefined) return null;
  const ports = PREFIX_OCTETS + 2 * octets;
  if (header.length < ports + 4) throw new Error("it has no address");
  const address = ipaddr.fromByteArray([...header.subarray(PREFIX_OCTETS, PREFIX_OCTETS + octets)]);
  return { address: address.toString(), port: header.readUInt16BE(ports) };
}
