/**
 * The lanes: what the large mailbox providers take from one sender before they push back. Published nowhere in full;
 * these are the figures that open bulk senders run with (KumoMTA's shaping rules of August 2026). Grouped by MX, not
 * by recipient domain, because the business customers of a provider share its limits.
 *
 * The field names are those of LANES_FILE, with which an operator overrides or adds lanes (lanes.ts).
 */

/** Null lifts a limit. */
export interface Lane {
  readonly name: string;
  /** A host belongs to the lane when its name ends in one of these (".example.com", which is also example.com). */
  readonly mx_suffixes: readonly string[];
  /** True: the limits hold for each site (group of MX hosts) by itself. False: for the whole lane together. */
  readonly per_site: boolean;
  /** Open at the same time, idle ones included. */
  readonly connections: number | null;
  /** Opened anew. */
  readonly connections_per_minute: number | null;
  /** After so many messages a connection is closed and a new one opened. */
  readonly messages_per_connection: number | null;
  readonly messages_per_second: number | null;
  /** Never in clear text, whatever the host offers. */
  readonly tls_required: boolean;
  /** Connections that fail one after the other before the lane rests. */
  readonly failures_before_rest: number | null;
  /** Words in a 4xx reply that close the lane, and for how long where the reply does not say. */
  readonly suspensions: readonly { readonly words: string; readonly seconds: number }[];
}

/** Everybody who is in no other lane, each site by itself. */
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
