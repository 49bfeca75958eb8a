/**
 * The built-in lanes: the limits of the large mailbox providers for one sender. Providers do not publish them in full; these
 * are the figures of KumoMTA's shaping rules (August 2026). Lanes group hosts by MX and not by recipient domain, because the
 * business customers of a provider share its limits.
 *
 * The field names are those of LANES_FILE, with which an operator overrides or adds lanes (lanes-by-mx-host.ts).
 */

/** Null lifts a limit. */
export interface Lane {
  readonly name: string;
  /** The lane of all hosts whose names end in one of these: ".example.com" matches example.com, too. */
  readonly mx_suffixes: readonly string[];
  /** True: each site (group of MX hosts) has the limits for itself. False: the whole lane shares them. */
  readonly per_site: boolean;
  /** Connections open at the same time, idle ones included. */
  readonly connections: number | null;
  /** New connections in a minute. */
  readonly connections_per_minute: number | null;
  /** After this many messages a connection is closed. */
  readonly messages_per_connection: number | null;
  readonly messages_per_second: number | null;
  /** True: mail is never sent without TLS. */
  readonly tls_required: boolean;
  /** The lane pauses for two minutes after this many failed connections in a row. */
  readonly failures_before_rest: number | null;
  /** Texts in a 4xx reply that pause the lane, with the duration if the reply does not name one. */
  readonly suspensions: readonly { readonly words: string; readonly seconds: number }[];
}

/** The lane of all hosts that belong to no other, with the limits per site. */
export const defaultLane: Lane = {
  name: "default",
  mx_suffixes: [],
  per_site: true,
  connections: 10,
  connections_per_minute: 100,
  messages_per_connection: 100,
  messages_per_second: 100,
  tls_required: false,
  failures_before_rest: 100,
  suspensions: [],
};

const provider = { ...defaultLane, per_site: false };

export const builtInLanes: readonly Lane[] = [
  defaultLane,
  {
    ...provider,
    name: "google",
    mx_suffixes: [".google.com", ".googlemail.com"],
    connections: 5,
    messages_per_connection: 50,
    tls_required: true,
    failures_before_rest: 5,
  },
  {
    ...provider,
    name: "yahoo",
    mx_suffixes: [".yahoodns.net"],
    messages_per_connection: 20,
    suspensions: [
      { words: "[TS04]", seconds: 7_200 },
      { words: "[TSS04]", seconds: 7_200 },
    ],
  },
  {
    ...provider,
    name: "outlook",
    mx_suffixes: [".olc.protection.outlook.com"],
    connections: 5,
    messages_per_connection: 50,
  },
  {
    ...provider,
    name: "office365",
    mx_suffixes: [".mail.protection.outlook.com"],
    connections: 5,
    messages_per_connection: 50,
  },
  {
    ...provider,
    name: "office365-dane",
    mx_suffixes: [".mx.microsoft"],
    connections: 5,
    messages_per_connection: 50,
  },
  { ...provider, name: "apple", mx_suffixes: [".icloud.com"], messages_per_connection: 5 },
  {
    ...provider,
    name: "comcast",
    mx_suffixes: [".comcast.net"],
    connections: 25,
    messages_per_connection: 1_000,
    tls_required: true,
    suspensions: [{ words: "RL000010", seconds: 300 }],
  },
  { ...provider, name: "mimecast", mx_suffixes: [".mimecast.com"], per_site: true },
  {
    ...provider,
    name: "orange",
    mx_suffixes: [".orange.fr"],
    connections: 2,
    tls_required: true,
  },
  { ...provider, name: "mail.com", mx_suffixes: [".mail.com"] },
];
