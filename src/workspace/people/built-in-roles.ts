/** The roles that every workspace has. Their permissions come with the program, so that new operations find their roles. */

export interface BuiltInRole {
  readonly key: BuiltInRoleKey;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
}

export const builtInRoleKeys = [
  "owner",
  "admin",
  "marketer",
  "editor",
  "developer",
  "support",
  "analyst",
  "billing",
] as const;
export type BuiltInRoleKey = (typeof builtInRoleKeys)[number];

const EDITOR = [
  "mailing_lists:*",
  "subscribers:*",
  "custom_fields:*",
  "segments:*",
  "suppression_lists:*",
  "campaigns:read",
  "campaigns:write",
  "autoresponders:read",
  "autoresponders:write",
  "media:*",
  "templates:read",
  "templates:write",
  "verified_senders:read",
  "sending_domains:read",
  "brand:read",
  "reports:read",
  "jobs:*",
  "notices:write",
];

const roles: readonly BuiltInRole[] = [
  {
    key: "owner",
    name: "Owner",
    description: "Everything. Only owners make and remove owners.",
    permissions: ["*:*"],
  },
  {
    key: "admin",
    name: "Admin",
    description: "Everything except making and removing owners.",
    permissions: ["*:*"],
  },
  {
    key: "marketer",
    name: "Marketer",
    description: "Writes and sends campaigns and autoresponders, and manages the audience.",
    permissions: [
      ...EDITOR,
      "campaigns:send",
      "autoresponders:send",
      "templates:send",
      "brand:*",
      "share_links:*",
    ],
  },
  {
    key: "editor",
    name: "Editor",
    description: "Writes campaigns and autoresponders, and cannot send them.",
    permissions: EDITOR,
  },
  {
    key: "developer",
    name: "Developer",
    description: "Integrates: API keys, webhooks, domains, and sending by the API.",
    permissions: [
      "api_keys:*",
      "webhooks:*",
      "emails:send",
      "media:*",
      "sending_domains:*",
      "dkims:*",
      "tracking_domains:*",
      "routing_rules:read",
      "sending_ips:read",
      "reports:read",
      "message_content:read",
      "inbound_routes:*",
      "received_emails:*",
      "suppression_lists:read",
      "templates:*",
      "notices:write",
      "share_links:*",
    ],
  },
  {
    key: "support",
    name: "Support",
    description: "Finds out what happened to a message, and lifts suppressions.",
    permissions: [
      "reports:read",
      "subscribers:read",
      "suppression_lists:*",
      "message_content:read",
      "inbound_routes:read",
      "received_emails:read",
    ],
  },
  {
    key: "analyst",
    name: "Analyst",
    description: "Reads figures, audience and campaigns.",
    permissions: [
      "autoresponders:read",
      "blacklist:read",
      "campaigns:read",
      "custom_fields:read",
      "dkims:read",
      "inbound_routes:read",
      "jobs:read",
      "mailing_lists:read",
      "media:read",
      "reports:read",
      "routing_rules:read",
      "segments:read",
      "sending_domains:read",
      "sending_ips:read",
      "subscribers:read",
      "suppression_lists:read",
      "templates:read",
      "tracking_domains:read",
      "validations:read",
      "verified_senders:read",
      "webhooks:read",
    ],
  },
  {
    key: "billing",
    name: "Billing",
    description: "Plan, balance and invoices.",
    permissions: ["billing:*", "reports:read", "notices:write"],
  },
];

export const builtInRoles: ReadonlyMap<string, BuiltInRole> = new Map(roles.map((role) => [role.key, role]));
