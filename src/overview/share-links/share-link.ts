/** A share link: shows one report or the records of one domain to people without an account, until it ends. */
import { Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import { CreatedAt, described, Id, NullableTimestamp, omittable, Timestamp } from "#platform/shapes.ts";

export const shareLinks: Resource = {
  name: "share_links",
  label: "Share links",
  group: "Account",
  about:
    "Links that show a report or DNS records without an account. Creating one also needs to read what it shows.",
};

const shareLinkKinds = ["campaign_report", "dns_records"] as const;
export type ShareLinkKind = (typeof shareLinkKinds)[number];

const Kind = Type.Enum([...shareLinkKinds], {
  description:
    "What it shows. `campaign_report`: figures and links of a campaign, no recipients; `dns_records`: the records of a sending domain, expected and found.",
});

const fields = {
  id: described(Id, "Id of the link."),
  kind: Kind,
  resource_id: described(Id, "Id of the campaign or the sending domain."),
  name: Type.String({ description: "Name of the campaign or the domain, when the link was made." }),
  has_password: Type.Boolean({ description: "Whether a password is needed to see it." }),
  created_by: Type.String({ description: "Name of the person or API key that made it." }),
  created_at: CreatedAt,
  expires_at: described(Timestamp, "When it ends, in UTC."),
  view_count: Type.Integer({ description: "How often it was shown; requests with HEAD do not count." }),
  last_viewed_at: Type.Unsafe<Date | null>({
    ...NullableTimestamp,
    description: "When it was last shown, in UTC; null if never.",
  }),
};

export const ShareLink = Type.Object(fields, { $id: "ShareLink" });

export const CreatedShareLink = Type.Object(
  {
    ...fields,
    url: Type.String({
      description: "The address of the page. It is not shown again: only a hash is stored.",
    }),
  },
  { $id: "CreatedShareLink" },
);

/** Short enough to dictate; attempts are limited (workspace/sign-in/attempts.ts). */
const SHORTEST_PASSWORD = 8;
export const LONGEST_SHARE_PASSWORD = 256;

export const NewShareLink = Type.Object(
  {
    kind: Kind,
    resource_id: described(Id, "Id of a campaign that has been sent, or of a sending domain."),
    expires_at: omittable(
      Type.String({
        maxLength: 100,
        description: "When it ends, ISO 8601, at most 90 days from now; default: 14 days from now.",
      }),
    ),
    password: omittable(
      Type.String({
        minLength: SHORTEST_PASSWORD,
        maxLength: LONGEST_SHARE_PASSWORD,
        description:
          "Asked for on the page. Send it in another way than the link. Absent: the link alone opens it.",
      }),
    ),
  },
  { $id: "NewShareLink" },
);
