/**
 * The shapes of POST /campaigns/{id}/check and POST /check: what would go wrong, who gets the mail, what it costs, and how
 * long it takes.
 */
import { type Static, Type } from "typebox";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import { orderedMail, PreviewText, SmsSize } from "#sending/preview/rendered-mail.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const severities = ["error", "warning", "info"] as const;
export type Severity = (typeof severities)[number];

export const CheckFinding = Type.Object(
  {
    severity: Type.Enum([...severities], {
      description:
        "`error`: the campaign is refused, or something in the mail does not work. `warning`: some readers get a worse mail, or it may be taken for spam. `info`: good to know.",
    }),
    code: Type.String({ description: "The kind of finding, such as `image_without_alt`." }),
    field: nullable(
      Type.String({ description: "The field of the campaign that it is about; null for the whole." }),
    ),
    line: nullable(Type.Integer({ description: "Line in the field, from 1; null for the whole field." })),
    column: nullable(Type.Integer({ description: "Column in the line, from 1; null for the whole field." })),
    message: Type.String({ description: "What is wrong, in one sentence for people." }),
    fix: nullable(Type.String({ description: "What to do about it; null if there is nothing to do." })),
    occurrences: Type.Integer({
      minimum: 1,
      description: "How often it occurs in the field; the position is that of the first.",
    }),
    url: nullable(
      Type.String({ description: "The link or image that it is about, or a page that explains it." }),
    ),
    mail_programs: nullable(
      Type.Array(Type.String({ description: "A mail program and its platform." }), {
        description: "For `client_support`: the mail programs that ignore the feature.",
      }),
    ),
  },
  { $id: "CheckFinding" },
);
export type CheckFinding = Static<typeof CheckFinding>;

/** Parts of a check that take time or ask other servers. */
export const checkParts = ["audience", "links", "images", "spam_score"] as const;
export type CheckPart = (typeof checkParts)[number];

const Unchecked = Type.Object(
  {
    part: Type.Enum([...checkParts], { description: "What was not checked." }),
    reason: Type.String({ description: "Why, in one sentence." }),
  },
  { $id: "UncheckedPart" },
);

const AudienceBeforeSending = Type.Object(
  {
    total: count("All people in the list, the segment or the conditions, those who are excluded included."),
    will_send: count("People who would get the mail if it were sent now."),
    excluded: Type.Object(
      {
        total: count("The sum of the reasons."),
        suppressed: count("People who complained or are on a suppression list that applies."),
        unsubscribed: count("People who have unsubscribed."),
        invalid: count(
          "People whose address bounced or has no usable domain, or who get an SMS and have no valid telephone number.",
        ),
      },
      { description: "People who would get no mail, by reason." },
    ),
    is_estimate: Type.Boolean({
      description:
        "True for more than 100,000 people, or 20,000 of an SMS campaign: the exclusions are then projected from a random sample of that size.",
    }),
  },
  { $id: "AudienceBeforeSending" },
);
export type AudienceBeforeSending = Static<typeof AudienceBeforeSending>;

const CampaignCost = Type.Object(
  {
    amount: Type.String({ description: "What it costs beyond the plan's included messages, in USD." }),
    currency: Type.Literal("USD", { description: "Always USD." }),
    included: count("Messages that the plan's allowance covers."),
    charged: count("Messages that are charged to the balance."),
    uncovered: count("Messages that neither allowance nor balance covers: sending would pause before them."),
    balance: Type.String({ description: "The balance before sending, in USD." }),
  },
  { $id: "CampaignCost" },
);
export type CampaignCost = Static<typeof CampaignCost>;

const CampaignDuration = Type.Object(
  {
    seconds: Type.Integer({ minimum: 0, description: "From the start until the last first attempt." }),
    limited_by: Type.Enum(["hourly_cap", "speed"], {
      description:
        "`hourly_cap`: the workspace's messages per hour. `speed`: how fast the last campaigns of the workspace were sent.",
    }),
  },
  { $id: "CampaignDuration" },
);
export type CampaignDuration = Static<typeof CampaignDuration>;

const asked = {
  total: count("Different addresses in the mail whose servers may be asked."),
  checked: count("Those whose servers gave a result within the time of the check."),
  left_out: count("Addresses beyond the first 50, which were not asked."),
};
const CheckedLinks = Type.Object(asked, { $id: "CheckedLinks" });
const CheckedImages = Type.Object(
  { ...asked, bytes: count("Bytes of the checked images together.") },
  { $id: "CheckedImages" },
);

const SpamScore = Type.Object(
  {
    score: Type.Number({ description: "Points that the spam scanner gives the mail." }),
    threshold: Type.Number({ description: "From this score on the scanner takes mail for spam." }),
    is_spam: Type.Boolean({ description: "Whether the scanner takes the mail for spam." }),
    rules: Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the rule, such as `MIME_HTML_ONLY`." }),
        points: Type.Number({
          description: "What the rule adds to the score; below zero it speaks for the mail.",
        }),
        description: Type.String({ description: "What the rule looks for, in the words of the scanner." }),
      }),
      { description: "The rules that matched, the one with most points first." },
    ),
  },
  { $id: "SpamScore" },
);

export const CheckOrder = Type.Object(
  {
    ...orderedMail,
    without: Type.Optional(
      Type.Array(Type.Enum([...checkParts], { description: "A part of the check." }), {
        maxItems: checkParts.length,
        description:
          "Parts to leave out, so that the answer comes sooner: `audience` (with cost and duration), `links`, `images`, `spam_score`.",
      }),
    ),
  },
  { $id: "CheckOrder" },
);

export const CampaignCheck = Type.Object(
  {
    findings: Type.Array(CheckFinding, {
      description: "The most severe first, then in the order of the content; at most 200.",
    }),
    counts: Type.Object(
      {
        error: count("Findings of severity `error`."),
        warning: count("Findings of severity `warning`."),
        info: count("Findings of severity `info`."),
      },
      { description: "All findings by severity, those beyond the first 200 included." },
    ),
    audience: described(
      nullable(AudienceBeforeSending),
      "Null when it does not exist or could not be counted in time.",
    ),
    cost: described(
      nullable(CampaignCost),
      "Null when the audience is not known, the key lacks `billing:read`, or it is an SMS, which takes nothing from plan and balance.",
    ),
    duration: described(
      nullable(CampaignDuration),
      "An estimate; null for an SMS, and when the workspace has sent no campaign to 100 people yet and has no hourly cap.",
    ),
    subject: Type.String({ description: "The subject as a made-up person would get it." }),
    preview_text: PreviewText,
    size: nullable(count("Bytes of the whole mail as sent; null when it cannot be rendered.")),
    html_size: nullable(
      count(
        "Bytes of the HTML part as sent; Gmail hides what follows the first 102,400. Null when it cannot be rendered.",
      ),
    ),
    sms: described(
      nullable(SmsSize),
      "The length of the SMS as a made-up person would get it; null for mail.",
    ),
    links: described(nullable(CheckedLinks), "Links whose servers were asked; null when left out."),
    images: described(nullable(CheckedImages), "Images whose servers were asked; null when left out."),
    spam: described(
      nullable(SpamScore),
      "What SpamAssassin says of the mail; null without the setting SPAMD_URL, and when it gave no score.",
    ),
    unchecked: Type.Array(Unchecked, { description: "What could not be checked, and why." }),
    checked_at: Type.Unsafe<Date>({ ...Timestamp, description: "When it was checked." }),
  },
  { $id: "CampaignCheck" },
);
export type CampaignCheck = Static<typeof CampaignCheck>;
