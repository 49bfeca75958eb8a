import { describe, expect, test } from "vitest";
import { findMisspelledSettings, readConfig } from "./config.ts";
import { settings } from "./settings.ts";

describe.each(["MAIL_HOSTNAME", "BOUNCE_DOMAIN"] as const)("%s", (name) => {
  test.each(["mail.example.com", "mail-1.EXAMPLE.com", "localhost", "xn--mller-kva.example"])(
    "takes %s",
    (value) => {
      expect(readConfig({ [name]: value })[name]).toBe(value);
    },
  );

  test.each([
    "my host",
    "mail_1.example.com",
    "-mail.example.com",
    "mail..example.com",
    "mail.example.com.",
    "192.0.2.1",
    "[192.0.2.1]",
    "bounce@example.com",
    "müller.example",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
  ])("refuses %s", (value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      `${name} must be a host name such as mail.example.com`,
    );
  });
});

describe("DNS_SERVERS", () => {
  test("takes addresses of both families, with or without a port", () => {
    const value = "192.0.2.53,192.0.2.54:5353, [2001:db8::53]:53,[2001:db8::54]";
    expect(readConfig({ DNS_SERVERS: value }).DNS_SERVERS).toEqual(value.split(/, ?/));
  });

  test.each(["dns.example", "127.0.0.1:99999", "127.0.0.1:0", "256.1.1.1", "[192.0.2.53]:53"])(
    "refuses %s",
    (value) => {
      expect(() => readConfig({ DNS_SERVERS: value })).toThrow("DNS_SERVERS must be addresses such as");
    },
  );
});

test.each(["127.0.0.1", "127.0.0.1:99999", "256.1.1.1:53", "::1", "[::1]"])(
  "DANE_RESOLVER refuses %s",
  (value) => {
    expect(() => readConfig({ DANE_RESOLVER: value })).toThrow(
      "DANE_RESOLVER must be an address with its port",
    );
  },
);

describe("SENDING_IPS", () => {
  test("takes addresses and networks of both families", () => {
    const value = "198.51.100.7, 192.0.2.0/24,2001:db8::/64,2001:db8:1::1";
    expect(readConfig({ SENDING_IPS: value }).SENDING_IPS).toEqual([
      "198.51.100.7",
      "192.0.2.0/24",
      "2001:db8::/64",
      "2001:db8:1::1",
    ]);
    expect(readConfig({}).SENDING_IPS).toEqual([]);
  });

  test.each(["out.example", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/8/8", "2001:db8::/129", "fe80::1%eth0"])(
    "refuses %s",
    (value) => {
      expect(() => readConfig({ SENDING_IPS: value })).toThrow("SENDING_IPS must be addresses or networks");
    },
  );
});

test("an installation has no commercial limits unless its operator sets them", () => {
  expect(readConfig({}).BOOTSTRAP_PLAN).toBe("enterprise");
  expect(readConfig({ BOOTSTRAP_PLAN: "free" }).BOOTSTRAP_PLAN).toBe("free");
});

test("mail without a sender gets one in capture mode, or if the operator has set it", () => {
  const MAIL_HOSTNAME = "mail.example.com";
  const sender = (environment: Record<string, string>) =>
    readConfig({ MAIL_HOSTNAME, ...environment }).DEFAULT_SENDER;
  expect(sender({})).toBe("posthaste@mail.example.com");
  expect(sender({ MAIL_MODE: "direct" })).toBeNull();
  expect(sender({ MAIL_MODE: "direct", PLATFORM_FROM: "hello@example.com" })).toBe("hello@example.com");
  expect(sender({ PLATFORM_FROM: "hello@example.com" })).toBe("hello@example.com");
});

test.each(["INBOX_TOKEN", "METRICS_TOKEN"])("%s is long enough not to be guessed", (name) => {
  expect(() => readConfig({ [name]: "short" })).toThrow(`${name} must be 16 to 256 letters`);
  expect(() => readConfig({ [name]: "a token with blanks" })).toThrow(name);
});

test("without MAIL_HOSTNAME the service uses the name of the machine", () => {
  expect(readConfig({}).MAIL_HOSTNAME).toMatch(/^[a-z0-9.-]+$/i);
});

test("a certificate without its key, or a key alone, is refused", () => {
  for (const half of ["TLS_CERT_FILE", "TLS_KEY_FILE"]) {
    expect(() => readConfig({ [half]: "half.pem" })).toThrow(
      "TLS_CERT_FILE and TLS_KEY_FILE must be set together",
    );
  }
});

describe("single sign-on", () => {
  const provider = { OIDC_ISSUER: "https://login.example.com", OIDC_CLIENT_ID: "posthaste" };

  test.each([
    "https://login.example.com/realms/acme",
    "http://127.0.0.1:9000",
    "http://localhost",
    "http://[::1]:9000",
  ])("takes the issuer %s", (OIDC_ISSUER) => {
    expect(readConfig({ ...provider, OIDC_ISSUER }).OIDC_ISSUER).toEqual(new URL(OIDC_ISSUER));
  });

  test.each([
    "http://login.example.com",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://10.0.0.1",
    "ftp://login.example.com",
    "login.example.com",
    "https://user@login.example.com",
    "https://login.example.com/?tenant=1",
  ])("refuses the issuer %s", (OIDC_ISSUER) => {
    expect(() => readConfig({ ...provider, OIDC_ISSUER })).toThrow("OIDC_ISSUER must be a URL");
  });

  test.each([
    [{ OIDC_CLIENT_ID: "" }, "OIDC_ISSUER and OIDC_CLIENT_ID must be set together"],
    [{ OIDC_CREATE_USERS: "true" }, "OIDC_DEFAULT_ROLE or OIDC_ROLE_CLAIM must be set"],
    [{ OIDC_ROLE_CLAIM: "groups" }, "OIDC_ROLE_CLAIM and OIDC_ROLES must be set together"],
    [{ OIDC_DEFAULT_ROLE: "owner" }, "OIDC_DEFAULT_ROLE must be one of admin, "],
    [{ OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "staff=owner" }, "OIDC_ROLES must be pairs"],
    [{ OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "=admin" }, "OIDC_ROLES must be pairs"],
    [{ OIDC_ALLOWED_DOMAINS: "@example.com" }, "OIDC_ALLOWED_DOMAINS must be domains"],
  ])("refuses %j", (change, fault) => {
    expect(() => readConfig({ ...provider, ...change })).toThrow(fault);
  });

  test("reads groups that contain an equals sign", () => {
    const OIDC_ROLES = "cn=mail=admin, marketing = marketer";
    expect(readConfig({ ...provider, OIDC_ROLE_CLAIM: "groups", OIDC_ROLES }).OIDC_ROLES).toEqual([
      ["cn=mail", "admin"],
      ["marketing", "marketer"],
    ]);
  });
});

test.each(["MESSAGE_LOG_DAYS", "MESSAGE_CONTENT_DAYS", "RECEIVED_MAIL_DAYS"] as const)(
  "%s may have no end, and an empty value is the default",
  (name) => {
    expect(readConfig({ [name]: "forever" })[name]).toBeNull();
    expect(readConfig({ [name]: "" })[name]).toBe(readConfig({})[name]);
    expect(() => readConfig({ [name]: "0" })).toThrow(`${name} must be a whole number from 1 to 3650`);
  },
);

test.each([
  ["MAIL_MOD", "MAIL_MODE"],
  ["MAIL_MODES", "MAIL_MODE"],
  ["DATABSE_URL", "DATABASE_URL"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["DATA_DRI", "DATA_DIR"],
  ["SECRETKEY", "SECRET_KEY"],
  ["mail_hostname", "MAIL_HOSTNAME"],
])("%s is probably meant to be %s", (variable, setting) => {
  expect(findMisspelledSettings({ [variable]: "x", PATH: "/bin" })).toEqual([
    `the environment variable ${variable} is no setting and has no effect: is ${setting} meant?`,
  ]);
});

test("names of settings, of other software and beside a setting that is set are no misspellings", () => {
  const ofOthers = `
    PATH HOME HOSTS GHOST POST PORTS HOSTNAME LOGNAME LANG TZ PWD OLDPWD SHLVL NODE_ENV NODE_OPTIONS
    NODE_EXTRA_CA_CERTS UV_THREADPOOL_SIZE MALLOC_ARENA_MAX HTTPS_PROXY POSTHASTE_PORT
    POSTHASTE_SERVICE_HOST POSTHASTE_SERVICE_PORT POSTGRES_PASSWORD PGHOST PGPORT MAIL MAILTO
    OUTBOUND_HOST OUTBOUND_PORT SMTP_HOST REDIS_HOST OIDC_CLIENT INVOCATION_ID`
    .trim()
    .split(/\s+/);
  const all = [...ofOthers, ...Object.keys(settings)].map((name) => [name, "x"]);
  expect(findMisspelledSettings(Object.fromEntries(all))).toEqual([]);
  expect(findMisspelledSettings(Object.fromEntries(ofOthers.map((name) => [name, "x"])))).toEqual([]);
  expect(findMisspelledSettings({ DATABASE_URL: "x", DATABASE_URL2: "x" })).toEqual([]);
});
