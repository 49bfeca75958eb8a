/**
 * The connection URL of a database with one server or several, in the form of libpq (PostgreSQL manual, "Connection
 * Strings"): `postgres://user:password@host1:5432,host2:5432/name?target_session_attrs=read-write`. The driver takes
 * URLs with one host only.
 */

export interface ServerAddress {
  /** A host name, an IP address without brackets, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface DatabaseAddress {
  /** For the driver: a URL of the first server. */
  readonly connectionString: string;
  /** At least one, in the order of the URL. */
  readonly servers: readonly ServerAddress[];
  /** Whether a standby or a read-only server must be refused: several hosts, or `target_session_attrs` says so. */
  readonly mustWrite: boolean;
}

const PORT = 5432;
const MOST_PORT = 65_535;
const FORM = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/is;
/** libpq's names of a session that can write; `any` is its default. */
const WRITABLE = new Set(["read-write", "primary"]);
const SUPPORTED = new Set(["any", ...WRITABLE]);

/** @throws Error whose message continues after the name of a setting: "must …" */
export function readDatabaseAddress(url: string): DatabaseAddress {
  const [, scheme, user = "", hosts = "", rest = ""] = FORM.exec(url) ?? [];
  if (scheme === undefined) throw new Error("must be a URL beginning with postgres:// or postgresql://");
  const list = hosts.split(",");
  const first = `${scheme}${user}${list[0]}${rest}`;
  if (!URL.canParse(first)) throw new Error("must be a URL such as postgres://user:password@host:5432/name");
  const parts = new URL(first);
  const attributes = parts.searchParams.get("target_session_attrs") ?? "any";
  if (!SUPPORTED.has(attributes))
    throw new Error(
      "must have read-write, primary or any as target_session_attrs, because the service writes",
    );
  const inQuery = parts.searchParams.get("host");
  const servers =
    inQuery === null
      ? list.map(readServer)
      : pairs(inQuery.split(","), parts.searchParams.get("port") ?? parts.port);
  return {
    connectionString: servers.length === 1 ? url : oneServer(parts, servers[0]),
    servers,
    mustWrite: servers.length > 1 || WRITABLE.has(attributes),
  };
}

/** A server as messages name it, such as `db1:5432` or `[2001:db8::1]:5432`. */
export function serverName({ host, port }: ServerAddress): string {
  return `${host.includes(":") ? `[${host}]` : host || "localhost"}:${port}`;
}

/** @param text such as `db1`, `db1:5433` or `[2001:db8::1]:5433` */
function readServer(text: string): ServerAddress {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(text) ?? [];
  const host = bracketed ?? name;
  // A folder of a Unix socket has its slashes as %2F.
  if (host === undefined || /%(?![0-9a-f]{2})/i.test(host))
    throw new Error(`must name servers as host:port: "${text}" is none`);
  return { host: decodeURIComponent(host), port: readPort(port ?? "") };
}

/** @param port one for all hosts, or one for each, separated by commas */
function pairs(hosts: readonly string[], port: string): ServerAddress[] {
  const ports = port.split(",");
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new Error("must have one port, or as many ports as hosts");
  return hosts.map((host, at) => ({ host, port: readPort(ports[at] ?? ports[0] ?? "") }));
}

function readPort(text: string): number {
  const port = text === "" ? PORT : Number(text);
  if (!(Number.isInteger(port) && port >= 1 && port <= MOST_PORT))
    throw new Error(`must have ports from 1 to ${MOST_PORT}`);
  return port;
}

/** The URL without what only libpq knows. The driver gets host and port of each connection separately. */
function oneServer(parts: URL, first: ServerAddress | undefined): string {
  const url = new URL(parts);
  url.searchParams.delete("target_session_attrs");
  if (url.searchParams.has("host")) {
    url.searchParams.set("host", first?.host ?? "");
    url.searchParams.set("port", String(first?.port ?? PORT));
  }
  return url.href;
}
