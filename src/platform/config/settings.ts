/**
 * Every setting: one table with name, default and a sentence each. `posthaste config` prints it, and docs/configuration.md
 * is generated from it.
 */
import {
  accessToken,
  bareAddress,
  bootstrapKey,
  domainsFile,
  flag,
  integer,
  jsonFile,
  list,
  networks,
  oneOf,
  optionalCountry,
  optionalDays,
  optionalHostName,
  optionalPort,
  optionalServer,
  optionalText,
  optionalUrl,
  percent,
  port,
  rateLimit,
  remotePort,
  secretKeys,
  servers,
  setting,
  text,
} from "./setting-readers.ts";

/** Every setting by its environment name. The order is the order of the docs. */
export const settings = {
  HOST: setting({ default: "127.0.0.1", read: text, about: "Address the HTTP API listens on." }),
  PORT: setting({
    default: "8080",
    read: port,
    about: "Port the HTTP API listens on; 0 takes any free one.",
  }),
  PUBLIC_URL: setting({
    default: "",
    read: optionalUrl("http:", "https:"),
    about: "Where people reach this service, used in links it mails. Empty: http://HOST:PORT.",
  }),
  DATABASE_URL: setting({
    default: "",
    read: optionalUrl("postgres:", "postgresql:"),
    about: "PostgreSQL 16 or newer. Empty: the service starts its own PostgreSQL 18 in DATA_DIR.",
    secret: true,
  }),
  DATABASE_POOL: setting({
    default: "6",
    read: integer(5, 50),
    about:
      "Connections each process keeps; jobs may hold four of them for long. More than 8 on a small machine makes every request slower.",
  }),
  DATA_DIR: setting({
    default: "./data",
    read: text,
    about: "Folder for the embedded database, the secret key, journals and uploads.",
  }),
  SECRET_KEY: setting({
    default: "",
    read: secretKeys,
    about:
      "Encrypts DKIM keys and signs tokens; all machines of one installation share it. Several keys with commas between them: the first seals and signs, all open and verify (docs/operations.md#rotate-the-secret-key). Empty: made at first start and kept in DATA_DIR.",
    secret: true,
  }),
  BOOTSTRAP_API_KEY: setting({
    default: "",
    read: bootstrapKey,
    about:
      "Value of the first workspace's key (efk_ and at least 16 random letters or digits). Empty: generated and printed once.",
    secret: true,
  }),
  BOOTSTRAP_PLAN: setting({
    default: "enterprise",
    read: oneOf("free", "growth", "scale", "enterprise"),
    about: "Plan of the first workspace: enterprise is unlimited. An operator who bills sets free.",
  }),
  RATE_LIMIT: setting({
    default: "100/200",
    read: rateLimit,
    about: "Requests per second and burst per source IP, or off.",
  }),
  REDIS_URL: setting({
    default: "",
    read: optionalUrl("redis:", "rediss:"),
    about: "Redis or Valkey that shares the rate limit between API machines. Empty: each counts for itself.",
    secret: true,
  }),
  MAIL_MODE: setting({
    default: "capture",
    read: oneOf("capture", "direct", "relay"),
    about:
      "capture keeps every message in the local inbox; direct delivers to the recipient's MX; relay hands all to RELAY_URL.",
  }),
  INBOX_TOKEN: setting({
    default: "",
    read: accessToken,
    about:
      "Token that opens the local inbox of MAIL_MODE=capture. Empty: made at first start, kept in DATA_DIR/inbox.token and printed at every start.",
    secret: true,
  }),
  METRICS_TOKEN: setting({
    default: "",
    read: accessToken,
    about:
      "Token that /metrics wants as Authorization: Bearer. Empty: /metrics answers callers on this machine, and no caller where PUBLIC_URL is set, because what a proxy passes on comes from this machine too.",
    secret: true,
  }),
  RELAY_URL: setting({
    default: "",
    read: optionalUrl("smtp:", "smtps:"),
    about: "Smart host for MAIL_MODE=relay: smtp://user:password@host:port (smtps for implicit TLS).",
    secret: true,
  }),
  SMS_GATEWAY_URL: setting({
    default: "",
    read: optionalUrl("smpp:", "smpps:", "http:", "https:"),
    about:
      "What carries SMS campaigns: smpp://system_id:password@host:2775?source=Name (smpps for TLS) or https://:secret@host/path#source=Name (docs/sms.md). Empty: none can be sent.",
    secret: true,
  }),
  SMS_DEFAULT_COUNTRY: setting({
    default: "",
    read: optionalCountry,
    about:
      "Country, such as DE, of telephone numbers that are not written with their country code. Empty: only numbers with a + are valid.",
  }),
  SMTP_PORT: setting({
    default: "25",
    read: remotePort,
    about: "Port of remote MXs; only tests use another.",
  }),
  ALLOW_PRIVATE_MX: setting({
    default: "false",
    read: flag,
    about: "Deliver to MX hosts on private or loopback addresses.",
  }),
  ALLOW_PRIVATE_WEBHOOKS: setting({
    default: "false",
    read: flag,
    about: "Send webhooks to receivers on private or loopback addresses.",
  }),
  DNS_SERVERS: setting({
    default: "",
    read: servers,
    about:
      "DNS servers (host:port, comma-separated) that answer every look-up, the first before the others (docs/operations.md). Empty: the system's.",
  }),
  MTA_STS: setting({
    default: "on",
    read: oneOf("on", "off"),
    about:
      "Whether recipients' domains may demand valid certificates by MTA-STS (docs/delivery.md). Only with MAIL_MODE=direct.",
  }),
  DANE_RESOLVER: setting({
    default: "",
    read: optionalServer,
    about:
      "DNS server (host:port) on this machine or its network that validates DNSSEC: it finds the mail hosts, and their TLSA records bind (docs/delivery.md). Only with MAIL_MODE=direct. Empty: no DANE.",
  }),
  MAIL_HOSTNAME: setting({
    default: "",
    read: optionalHostName,
    about: "EHLO name: a host name whose address points back to it. Empty: the machine's name.",
  }),
  SENDING_IPS: setting({
    default: "",
    read: networks,
    about:
      "Addresses or networks that workspaces may claim as sending IPs, comma-separated (docs/routing.md). Empty: any.",
  }),
  BOUNCE_DOMAIN: setting({
    default: "",
    read: optionalHostName,
    about: "Domain of return paths, whose MX is this service. Empty: bounce.MAIL_HOSTNAME.",
  }),
  TRACKING_HOST: setting({
    default: "",
    read: optionalHostName,
    about:
      "Host that customers' tracking domains are aliases of. Empty: the host of PUBLIC_URL, or MAIL_HOSTNAME when that is no host name.",
  }),
  PLATFORM_FROM: setting({
    default: "",
    read: bareAddress,
    about:
      "Sender of the service's own mail and of messages without from_email; every workspace may also name it. Empty: posthaste@MAIL_HOSTNAME for the first and, with MAIL_MODE=capture, for the second, which otherwise is an error.",
  }),
  PLATFORM_SPF_DOMAIN: setting({
    default: "",
    read: optionalText,
    about:
      "Domain whose SPF record lists this service's addresses; customers include it. Empty: spf.MAIL_HOSTNAME.",
  }),
  HARD_BOUNCE_DAYS: setting({
    default: "",
    read: optionalDays,
    about:
      "Days after which an address that was suppressed because it does not exist may be written to again. Empty: never.",
  }),
  BRAKE_ATTEMPTS: setting({
    default: "500",
    read: integer(1, 1_000_000),
    about: "Attempts of a campaign from which on the two shares below may pause it (docs/campaigns.md).",
  }),
  BRAKE_BOUNCE_PERCENT: setting({
    default: "10",
    read: percent,
    about: "Hard bounces in a hundred attempts beyond which a campaign is paused; 100: never.",
  }),
  BRAKE_COMPLAINT_PERCENT: setting({
    default: "0.5",
    read: percent,
    about: "Complaints in a hundred attempts beyond which a campaign is paused; 100: never.",
  }),
  BRAKE_FAILURES: setting({
    default: "50",
    read: integer(1, 1_000_000),
    about: "Failures of our own, one after the other, at which a campaign is paused.",
  }),
  MESSAGE_CONTENT_DAYS: setting({
    default: "30",
    read: optionalDays,
    about: "Days for which the contents of messages are kept, rounded up to whole months. Empty: for ever.",
  }),
  MESSAGE_LOG_DAYS: setting({
    default: "180",
    read: optionalDays,
    about:
      "Days for which the message log and its events are kept, rounded up to whole months. Empty: for ever.",
  }),
  VALIDATION_PROBE: setting({
    default: "on",
    read: oneOf("on", "off"),
    about:
      "Whether a validation asks the address's mail server if it takes mail for it. Only with MAIL_MODE=direct; others ask the DNS alone.",
  }),
  RDAP_URL: setting({
    default: "",
    read: optionalUrl("https:", "http:"),
    about:
      "RDAP server (RFC 9224) that validations ask how long a domain has been registered, such as https://rdap.org/. Empty: nobody is asked.",
  }),
  TRAP_DOMAINS_FILE: setting({
    default: "",
    read: domainsFile,
    about:
      "File of domains, one a line, that are known to be spam traps: validations show them as is_honeypot. Empty: none.",
  }),
  INBOUND_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for mail that comes back: bounces, complaints, reports (docs/inbound.md). Empty: off.",
  }),
  SUBMISSION_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for SMTP submission with STARTTLS, such as 587 (docs/submission.md). Empty: off.",
  }),
  SUBMISSIONS_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for SMTP submission over TLS from the first byte, such as 465. Empty: off.",
  }),
  INBOUND_HOST: setting({
    default: "",
    read: optionalText,
    about: "Address that the three SMTP ports listen on. Empty: HOST.",
  }),
  TLS_CERT_FILE: setting({
    default: "",
    read: optionalText,
    about:
      "PEM file with the certificate and chain of the SMTP ports; read again when it changes. Empty: self-signed, made at first start and kept in DATA_DIR.",
  }),
  TLS_KEY_FILE: setting({
    default: "",
    read: optionalText,
    about: "PEM file with the private key of TLS_CERT_FILE.",
  }),
  TRUSTED_PROXIES: setting({
    default: "",
    read: list,
    about: "Addresses or networks of proxies whose X-Forwarded-For is believed, comma-separated.",
  }),
  CORS_ORIGINS: setting({
    default: "",
    read: list,
    about: "Origins whose pages may call the API, comma-separated. Empty: none.",
  }),
  LOG_LEVEL: setting({
    default: "info",
    read: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    about: "Least severity that is logged.",
  }),
  DELIVERY_WORKERS: setting({
    default: "1",
    read: integer(1, 64),
    about: "Delivery processes. One uses every core of a small machine, for signing runs in threads.",
  }),
  BLACKLIST_ZONES_FILE: setting({
    default: "",
    read: jsonFile,
    about: "JSON file that overrides, adds to or replaces the catalogue of blacklists (docs/blacklist.md).",
  }),
  PLANS_FILE: setting({
    default: "",
    read: jsonFile,
    about: "JSON file that overrides prices, allowances and rates of the plans (docs/billing.md).",
  }),
  STRIPE_SECRET_KEY: setting({
    default: "",
    read: optionalText,
    about: "Stripe's secret key, with which top-ups are taken by card (docs/billing.md). Empty: none are.",
    secret: true,
  }),
  STRIPE_WEBHOOK_SECRET: setting({
    default: "",
    read: optionalText,
    about: "Secret (whsec_...) with which Stripe signs what it tells to PUBLIC_URL/payments/stripe.",
    secret: true,
  }),
  STRIPE_API_URL: setting({
    default: "https://api.stripe.com",
    read: optionalUrl("http:", "https:"),
    about: "Where Stripe's API is; only tests use another.",
  }),
  GOOGLE_POSTMASTER_CREDENTIALS: setting({
    default: "",
    read: jsonFile,
    about:
      "JSON file with a service account's key, or the refresh token of a person, that may read Google Postmaster Tools (docs/reporting.md). Empty: not connected.",
  }),
  LANES_FILE: setting({
    default: "",
    read: jsonFile,
    about: "JSON file that overrides or adds to the table of mailbox-provider limits (docs/delivery.md).",
  }),
} as const;

export type SettingName = keyof typeof settings;
