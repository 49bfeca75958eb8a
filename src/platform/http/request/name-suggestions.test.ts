import { describe, expect, it } from "vitest";
import { KnownNames } from "./name-suggestions.ts";

const campaign = [
  "name",
  "subject",
  "from_email",
  "from_name",
  "reply_to",
  "sender_email",
  "mailing_list_id",
  "segment_id",
  "segment_conditions",
  "html_content",
  "text_content",
  "enable_open_tracking",
  "enable_click_tracking",
  "custom_headers",
  "scheduled_at",
  "attachments",
];
const email = ["to", "subject", "body", "from_email", "from_name", "bounce_email", "attachments"];
const person = ["email", "first_name", "last_name", "source", "status", "custom_fields"];
const attachment = ["filename", "content", "content_type", "disposition", "content_id"];
const order = ["scheduled_at", "send_now"];
const list = ["page", "limit", "status", "search", "list_id", "after"];
const key = ["name", "permissions", "expires_at"];
const customField = ["field_name", "field_label", "field_type", "field_options", "is_required", "is_active"];

describe("an unknown name that is similar to a known one", () => {
  it.each<[given: string, known: readonly string[], meant: string]>([
    // Case and separators.
    ["firstName", person, "first_name"],
    ["FirstName", person, "first_name"],
    ["FIRST_NAME", person, "first_name"],
    ["first-name", person, "first_name"],
    ["first name", person, "first_name"],
    ["firstname", person, "first_name"],
    ["Email", person, "email"],
    ["customFields", person, "custom_fields"],
    ["fileName", attachment, "filename"],
    ["file_name", attachment, "filename"],
    ["contentID", attachment, "content_id"],
    ["HTMLContent", campaign, "html_content"],
    ["csvfile", ["csvFile"], "csvFile"],
    ["csv_file", ["csvFile"], "csvFile"],
    ["permissions[]", key, "permissions"],
    ["pageSize", list, "limit"],
    // Singular and plural.
    ["attachment", email, "attachments"],
    ["emails", person, "email"],
    ["permission", key, "permissions"],
    ["entry", ["entries"], "entries"],
    ["mailing_list_ids", campaign, "mailing_list_id"],
    // Little words in front, and words in another order.
    ["active", customField, "is_active"],
    ["open_tracking", campaign, "enable_open_tracking"],
    ["email_from", campaign, "from_email"],
    ["name_first", person, "first_name"],
    // Other words for the same thing.
    ["html", email, "body"],
    ["text", email, "body"],
    ["html", campaign, "html_content"],
    ["htmlBody", campaign, "html_content"],
    ["body", campaign, "html_content"],
    ["text", campaign, "text_content"],
    ["plain_text", campaign, "text_content"],
    ["from", email, "from_email"],
    ["from", campaign, "from_email"],
    ["sender", campaign, "from_email"],
    ["senderName", campaign, "from_name"],
    ["replyTo", campaign, "reply_to"],
    ["reply_to_email", campaign, "reply_to"],
    ["reply_to", ["name", "reply_to_email"], "reply_to_email"],
    ["recipient", email, "to"],
    ["to_email", email, "to"],
    ["title", email, "subject"],
    ["fname", person, "first_name"],
    ["surname", person, "last_name"],
    ["e_mail", person, "email"],
    ["emailAddress", person, "email"],
    ["attributes", person, "custom_fields"],
    ["merge_fields", person, "custom_fields"],
    ["list_id", campaign, "mailing_list_id"],
    ["mailing_list_id", list, "list_id"],
    ["listId", list, "list_id"],
    ["headers", campaign, "custom_headers"],
    ["conditions", campaign, "segment_conditions"],
    ["schedule_at", order, "scheduled_at"],
    ["scheduledAt", order, "scheduled_at"],
    ["send_at", order, "scheduled_at"],
    ["sendAt", campaign, "scheduled_at"],
    ["scheduled_for", campaign, "scheduled_at"],
    ["schedule_time", campaign, "scheduled_at"],
    ["deliver_at", campaign, "scheduled_at"],
    ["scopes", key, "permissions"],
    ["expires", key, "expires_at"],
    ["mime_type", attachment, "content_type"],
    ["type", attachment, "content_type"],
    ["name", attachment, "filename"],
    ["cid", attachment, "content_id"],
    ["type", customField, "field_type"],
    ["options", customField, "field_options"],
    ["per_page", list, "limit"],
    ["offset", list, "page"],
    ["q", list, "search"],
    ["cursor", list, "after"],
    ["startDate", ["start_date", "end_date"], "start_date"],
    ["from", ["start_date", "end_date"], "start_date"],
    ["days", ["window_days"], "window_days"],
    ["window_days", ["window"], "window"],
    // Slips of the finger.
    ["emial", person, "email"],
    ["custom_feilds", person, "custom_fields"],
    ["frist_name", person, "first_name"],
    ["subjet", campaign, "subject"],
    ["sheduled_at", campaign, "scheduled_at"],
    ["schedulded_at", order, "scheduled_at"],
    ["atachmets", email, "attachments"],
    ["nmae", key, "name"],
    ["serach", list, "search"],
  ])("%j beside %j is %j", (given, known, meant) => {
    expect(new KnownNames(known).meantBy(given)).toBe(meant);
  });

  it.each<[given: string, known: readonly string[]]>([
    ["colour", person],
    ["list_name", person],
    ["full_name", person],
    ["phone", person],
    ["address", person],
    ["list_name", campaign],
    ["country", person],
    ["state", person],
    ["created_at", person],
    ["updated_at", campaign],
    ["id", campaign],
    ["metadata", email],
    ["tags", email],
    ["utm_source", list],
    ["_", list],
    ["api_key", list],
    ["timezone", order],
    ["constructor", person],
    ["__proto__", person],
    ["", person],
    ["имя", person],
    ["x".repeat(100_000), person],
  ])("is not %.40j beside %j", (given, known) => {
    expect(new KnownNames(known).meantBy(given)).toBeUndefined();
  });
});

describe("a name that is refused in any case", () => {
  it.each<[given: string, known: readonly string[], meant: string | undefined]>([
    ["first_nam", person, "first_name"],
    ["citty", ["city", "county"], "city"],
    ["cty", ["city", "county"], "city"],
    ["ctiy", ["city", "county"], "city"],
    ["colour", ["color"], "color"],
    ["firstName", person, "first_name"],
    ["size", ["site", "side"], undefined],
    ["ci", ["cti"], undefined],
    ["phone", person, undefined],
    ["", person, undefined],
    ["x".repeat(100_000), person, undefined],
  ])("%.40j beside %j is told %j", (given, known, meant) => {
    expect(new KnownNames(known).nearestTo(given)).toBe(meant);
  });
});
