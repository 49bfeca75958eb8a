/**
 * The table of all settings with their defaults and descriptions. `posthaste config` prints it, and docs/configuration.md is
 * generated from it.
 */
import {
  accessToken,
  bareAddress,
  bootstrapKey,
  daysOrForever,
  domainNames,
  domainsFile,
  flag,
  integer,
  jsonFile,
  list,
  networks,
  oneOf,
  optionalCountry,
  optionalDatabaseUrl,
  optionalDays,
  optionalHostName,
  optionalIssuer,
  optionalPort,
  optionalReplicaUrl,
  optionalRole,
  optionalServer,
  optionalText,
  optionalUrl,
  percentSetting,
  port,
  rateLimit,
  remotePort,
  rolesOfGroups,
  secretKeys,
  servers,
  setting,
  text,
} from "./setting-readers.ts";

/** By the name of the environment variable, in the order of the docs. */
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
    about: "Public URL of this service, used for links in mails. Empty: http://HOST:PORT.",
  }),
  DATABASE_URL: setting({
    default: "",
    read: optionalDatabaseUrl,
    about:
      "PostgreSQL 16 or newer. Of several hosts (postgres://user:password@db1:5432,db2:5432/name) the service finds the primary and follows it (docs/high-availability.md). Empty: the service starts its own PostgreSQL 18 in DATA_DIR.",
    secret: true,
  }),
  DATABASE_READ_URL: setting({
    default: "",
    read: optionalReplicaUrl,
    about:
      "A standby of the same database, from which reports are read: one server or one address of several. If it is away or more than 15 seconds behind, they come from the primary. Empty: all is read from DATABASE_URL.",
    secret: true,
  }),
  DATABASE_POOL: setting({
    default: "6",
    read: integer(5, 50),
    about:
      "Database connections of each process; jobs may hold four of them for long. More than 8 on a small machine makes every request slower.",
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
      "Encrypts DKIM keys and signs tokens; all machines of one installation share it. Several keys, comma-separated: the first encrypts and signs, all decrypt and verify (docs/operations.md#rotate-the-secret-key). Empty: generated at first start and kept in DATA_DIR.",
    secret: true,
  }),
  POSTHASTE_BACKUP_PASSPHRASE: setting({
    default: "",
    read: optionalText,
    about:
      "Passphrase of the secret keys in a backup, for the commands backup and restore. Empty: they read --passphrase-file, or ask.",
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
    about: "Plan of the first workspace: enterprise is unlimited. Set free if you bill workspaces.",
  }),
  RATE_LIMIT: setting({
    default: "100/200",
    read: rateLimit,
    about: "Requests per second and burst per source IP, or off.",
  }),
  REDIS_URL: setting({
    default: "",
    read: optionalUrl("redis:", "rediss:"),
    about:
      "Redis or Valkey that shares the rate limit between API machines. Empty: each machine counts its own requests.",
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
      "Token for the local inbox of MAIL_MODE=capture. Empty: generated at first start, kept in DATA_DIR/inbox.token and printed at every start.",
    secret: true,
  }),
  HEALTH_PORT: setting({
    default: "",
    read: optionalPort,
    about:
      "Port, on HOST, for /healthz, /readyz and /metrics of a process without the role api, whose PORT does not listen (docs/monitoring.md#health). Empty: off.",
  }),
  METRICS_TOKEN: setting({
    default: "",
    read: accessToken,
    about:
      "Token that /metrics requires as Authorization: Bearer. Empty: /metrics answers callers on this machine only, and none if PUBLIC_URL is set, because requests through a proxy also come from this machine.",
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
      "Gateway for SMS campaigns: smpp://system_id:password@host:2775?source=Name (smpps for TLS) or https://:secret@host/path#source=Name (docs/sms.md). Empty: SMS cannot be sent.",
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
    about: "Port of remote MXs; only tests change it.",
  }),
  ALLOW_PRIVATE_MX: setting({
    default: "false",
    read: flag,
    about: "Deliver to MX hosts on private or loopback addresses.",
  }),
  ALLOW_PRIVATE_WEBHOOKS: setting({
    default: "false",
    read: flag,
    about:
      "Send webhooks to receivers on private or loopback addresses. Those who may read webhooks see what such receivers answer.",
  }),
  ALLOW_PRIVATE_LINKS: setting({
    default: "false",
    read: flag,
    about:
      "Checks of mail also ask for links and images on private or loopback addresses, and on any port (docs/campaigns.md).",
  }),
  SPAMD_URL: setting({
    default: "",
    read: optionalUrl("spamd:"),
    about:
      "spamd of SpamAssassin whose score checks of mail show: spamd://host:783 (docs/campaigns.md). Empty: no score.",
  }),
  DNS_SERVERS: setting({
    default: "",
    read: servers,
    about:
      "DNS servers (host:port, comma-separated) for every look-up, in order of preference (docs/operations.md). Empty: those of the system.",
  }),
  MTA_STS: setting({
    default: "on",
    read: oneOf("on", "off"),
    about:
      "Whether the MTA-STS policies of recipients' domains are enforced (docs/delivery.md). Only with MAIL_MODE=direct.",
  }),
  DANE_RESOLVER: setting({
    default: "",
    read: optionalServer,
    about:
      "DNSSEC-validating resolver (host:port) on this machine or its network, used to look up MX hosts and enforce their TLSA records (docs/delivery.md). Only with MAIL_MODE=direct. Empty: no DANE.",
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
    about: "Domain of return paths; its MX must be this service. Empty: bounce.MAIL_HOSTNAME.",
  }),
  TRACKING_HOST: setting({
    default: "",
    read: optionalHostName,
    about:
      "Host to which customers' tracking domains point by CNAME. Empty: the host of PUBLIC_URL, or MAIL_HOSTNAME if that is not a host name.",
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
      "Days after which the suppression of an address that did not exist (hard bounce) ends. Empty: never.",
  }),
  BRAKE_ATTEMPTS: setting({
    default: "500",
    read: integer(1, 1_000_000),
    about: "Attempts of a campaign before the two percentages below may pause it (docs/campaigns.md).",
  }),
  BRAKE_BOUNCE_PERCENT: setting({
    default: "10",
    read: percentSetting,
    about: "Hard bounces per hundred attempts above which a campaign is paused; 100: never.",
  }),
  BRAKE_COMPLAINT_PERCENT: setting({
    default: "0.5",
    read: percentSetting,
    about: "Complaints per hundred attempts above which a campaign is paused; 100: never.",
  }),
  BRAKE_FAILURES: setting({
    default: "50",
    read: integer(1, 1_000_000),
    about: "Consecutive internal failures at which a campaign is paused.",
  }),
  MESSAGE_CONTENT_DAYS: setting({
    default: "30",
    read: daysOrForever,
    about:
      "Days for which the contents of messages are kept, rounded up to whole days of UTC. `forever`: no end.",
  }),
  MESSAGE_LOG_DAYS: setting({
    default: "180",
    read: daysOrForever,
    about:
      "Days for which the message log and its events are kept, rounded up to whole days of UTC. `forever`: no end.",
  }),
  MESSAGE_ARCHIVE_TABLESPACE: setting({
    default: "",
    read: optionalText,
    about:
      "Tablespace of PostgreSQL, on cheaper storage, that old days of the message log are moved to (docs/operations.md). Empty: they stay.",
  }),
  MESSAGE_ARCHIVE_DAYS: setting({
    default: "30",
    read: integer(1, 3_650),
    about: "Age in days at which MESSAGE_ARCHIVE_TABLESPACE takes a day of the message log.",
  }),
  RECEIVED_MAIL_DAYS: setting({
    default: "30",
    read: daysOrForever,
    about: "Days for which mail to inbound routes is kept (docs/receiving.md). `forever`: no end.",
  }),
  VALIDATION_PROBE: setting({
    default: "on",
    read: oneOf("on", "off"),
    about:
      "Whether validations ask the mail server of an address if it accepts the recipient. Only with MAIL_MODE=direct; other modes use the DNS only.",
  }),
  RDAP_URL: setting({
    default: "",
    read: optionalUrl("https:", "http:"),
    about:
      "RDAP server (RFC 9224) that validations ask for the age of a domain, such as https://rdap.org/. Empty: the age is not checked.",
  }),
  TRAP_DOMAINS_FILE: setting({
    default: "",
    read: domainsFile,
    about:
      "File of spam-trap domains, one a line; validations mark their addresses as is_honeypot. Empty: none.",
  }),
  INBOUND_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for inbound mail: bounces, complaints, reports (docs/inbound.md). Empty: off.",
  }),
  SUBMISSION_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for SMTP submission with STARTTLS, such as 587 (docs/submission.md). Empty: off.",
  }),
  SUBMISSIONS_PORT: setting({
    default: "",
    read: optionalPort,
    about: "Port for SMTP submission with implicit TLS, such as 465. Empty: off.",
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
      "PEM file with the certificate and chain of the SMTP ports; reloaded when it changes. Empty: self-signed, generated at first start and kept in DATA_DIR.",
  }),
  TLS_KEY_FILE: setting({
    default: "",
    read: optionalText,
    about: "PEM file with the private key of TLS_CERT_FILE.",
  }),
  TRUSTED_PROXIES: setting({
    default: "",
    read: list,
    about: "Addresses or networks of proxies whose X-Forwarded-For is trusted, comma-separated.",
  }),
  SMTP_PROXIES: setting({
    default: "",
    read: list,
    about:
      "Addresses or networks of proxies in front of the SMTP ports, comma-separated. Their connections must begin with a PROXY header (version 1 or 2), which names the client.",
  }),
  CORS_ORIGINS: setting({
    default: "",
    read: list,
    about: "Origins whose pages may call the API, comma-separated. Empty: none.",
  }),
  LOG_LEVEL: setting({
    default: "info",
    read: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    about:
      "Lowest severity that is logged. `debug` adds a line for every request and every delivery attempt.",
  }),
  LOG_FORMAT: setting({
    default: "auto",
    read: oneOf("auto", "json", "text"),
    about:
      "Form of the log: lines of `text`, or one `json` object a line. `auto`: text at a terminal, JSON elsewhere.",
  }),
  DELIVERY_WORKERS: setting({
    default: "1",
    read: integer(1, 64),
    about:
      "Number of delivery processes. One uses all cores of a small machine, because signing runs in threads.",
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
    about: "Secret key of Stripe, for top-ups by card (docs/billing.md). Empty: no top-ups by card.",
    secret: true,
  }),
  STRIPE_WEBHOOK_SECRET: setting({
    default: "",
    read: optionalText,
    about: "Secret (whsec_...) of the Stripe webhook to PUBLIC_URL/payments/stripe.",
    secret: true,
  }),
  STRIPE_API_URL: setting({
    default: "https://api.stripe.com",
    read: optionalUrl("http:", "https:"),
    about: "Base URL of Stripe's API; only tests change it.",
  }),
  GOOGLE_POSTMASTER_CREDENTIALS: setting({
    default: "",
    read: jsonFile,
    about:
      "JSON file with a service account's key or a user's refresh token for Google Postmaster Tools (docs/reporting.md). Empty: not connected.",
  }),
  PASSWORD_LOGIN: setting({
    default: "on",
    read: oneOf("on", "off"),
    about:
      "Whether people sign in with passwords. off: only with passkeys and single sign-on (docs/sign-in.md).",
  }),
  OIDC_ISSUER: setting({
    default: "",
    read: optionalIssuer,
    about:
      "Issuer of the OpenID provider for single sign-on, such as https://login.example.com/realms/acme (docs/sign-in.md#single-sign-on). Empty: no single sign-on.",
  }),
  OIDC_CLIENT_ID: setting({
    default: "",
    read: optionalText,
    about: "Id of the client that is registered at the OpenID provider for this service.",
  }),
  OIDC_CLIENT_SECRET: setting({
    default: "",
    read: optionalText,
    about: "Secret of that client. Empty: a public client, which the provider must allow.",
    secret: true,
  }),
  OIDC_NAME: setting({
    default: "Single sign-on",
    read: text,
    about: "Name of the OpenID provider on the button of the sign-in page.",
  }),
  OIDC_TRUST_EMAILS: setting({
    default: "false",
    read: flag,
    about:
      "Whether addresses count as verified although the OpenID provider does not say so with email_verified, as Entra ID. Only for a provider at which people cannot choose their address.",
  }),
  OIDC_ALLOWED_DOMAINS: setting({
    default: "",
    read: domainNames,
    about:
      "Domains of verified addresses with which people may sign in by single sign-on, comma-separated. Empty: all.",
  }),
  OIDC_CREATE_USERS: setting({
    default: "false",
    read: flag,
    about:
      "Whether people without an account get one at their first single sign-on, as members of the first workspace. false: an operator or an invitation comes first.",
  }),
  OIDC_DEFAULT_ROLE: setting({
    default: "",
    read: optionalRole,
    about:
      "Built-in role of created people whose OIDC_ROLE_CLAIM gives none, such as analyst. Empty: they get no account.",
  }),
  OIDC_ROLE_CLAIM: setting({
    default: "",
    read: optionalText,
    about:
      "Claim with the groups of a person, such as groups or realm_access.roles, for the role of created people. Empty: OIDC_DEFAULT_ROLE.",
  }),
  OIDC_ROLES: setting({
    default: "",
    read: rolesOfGroups,
    about:
      "Built-in roles of the groups in OIDC_ROLE_CLAIM: mail-admins=admin,marketing=marketer. The first group that a person has counts.",
  }),
  LANES_FILE: setting({
    default: "",
    read: jsonFile,
    about: "JSON file that overrides or adds to the table of mailbox-provider limits (docs/delivery.md).",
  }),
} as const;

export type SettingName = keyof typeof settings;
