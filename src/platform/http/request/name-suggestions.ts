/** Suggests a known name for an unknown one: another spelling, a synonym, or a typo. */

/** Longer names are not compared: no known name is half as long. */
const LONGEST = 64;
/** Shorter names are too similar to many known ones. */
const SHORTEST_GUESS = 3;

/** Synonyms of names of the API: `of` in order of preference. All are in snake case, without a plural s. */
const synonyms: readonly { readonly of: readonly string[]; readonly words: string }[] = [
  {
    of: ["html_content", "body"],
    words: "html html_body body_html html_message html_part html_text body content message",
  },
  {
    of: ["text_content", "body"],
    words: "text text_body body_text plain plain_text plaintext text_part text_plain",
  },
  { of: ["body"], words: "html_content text_content" },
  {
    of: ["from_email"],
    words: "from sender from_address from_mail mail_from sender_email sender_address sender_mail",
  },
  { of: ["from_name"], words: "sender_name from_display_name display_name" },
  {
    of: ["reply_to", "reply_to_email"],
    words: "reply_to reply_to_email reply_to_address reply_email reply",
  },
  {
    of: ["to", "emails"],
    words: "recipient to_email to_address email_to rcpt rcpt_to recipient_email email address",
  },
  { of: ["email"], words: "email_address mail mail_address e_mail recipient recipient_email" },
  { of: ["email", "from_email"], words: "sender" },
  { of: ["test_value"], words: "value email email_address address" },
  { of: ["bounce_email"], words: "bounce_address return_path bounce_to envelope_from" },
  { of: ["subject", "name"], words: "subject_line title headline" },
  { of: ["name"], words: "label campaign_name key_name" },
  { of: ["message_type"], words: "type channel" },
  { of: ["first_name"], words: "first fname given_name forename" },
  { of: ["last_name"], words: "last lname surname family_name" },
  {
    of: ["custom_fields"],
    words: "field attribute attrib custom_attribute custom_data custom_value merge_field merge_var property",
  },
  {
    of: ["scheduled_at"],
    words:
      "schedule schedule_at scheduled scheduled_for schedule_for scheduled_time schedule_time scheduled_date schedule_date " +
      "scheduled_datetime schedule_datetime scheduled_on schedule_on send_at send_on send_time send_date send_after " +
      "send_later deliver_at deliver_on delivery_at delivery_time delivery_date deliver_after start_at start_time " +
      "publish_at launch_at run_at at time date when",
  },
  { of: ["send_now"], words: "now immediate immediately send_immediately" },
  {
    of: ["mailing_list_id", "list_id"],
    words: "list mailing_list list_id mailing_list_id audience audience_id",
  },
  { of: ["segment_id"], words: "segment" },
  { of: ["segment_conditions", "conditions"], words: "condition segment_rule filter rule segment_filter" },
  { of: ["logic"], words: "combinator conjunction combine operator match" },
  { of: ["rules"], words: "condition filter child children" },
  { of: ["operator"], words: "op comparison comparator condition" },
  { of: ["attachments"], words: "file attached_file" },
  { of: ["filename"], words: "name file title" },
  { of: ["content"], words: "data base64 content_base64 body raw content_byte" },
  { of: ["content_type"], words: "type mime mime_type media_type" },
  { of: ["content_id"], words: "cid" },
  { of: ["disposition"], words: "content_disposition" },
  { of: ["enable_open_tracking"], words: "track_open tracking_open" },
  { of: ["enable_click_tracking"], words: "track_click tracking_click track_link link_tracking" },
  { of: ["custom_headers"], words: "header extra_header" },
  { of: ["permissions"], words: "scope right" },
  { of: ["expires_at"], words: "expire expiry expiration expiration_date expire_on valid_until" },
  { of: ["url"], words: "endpoint webhook_url callback_url target_url address uri link target" },
  { of: ["events"], words: "event_type type topic trigger" },
  { of: ["domain"], words: "domain_name hostname host name" },
  { of: ["ip"], words: "ip_address address" },
  { of: ["target"], words: "ip ip_address domain host hostname" },
  { of: ["frequency_minutes"], words: "frequency interval interval_minute" },
  { of: ["notify"], words: "notification alert" },
  { of: ["amount"], words: "value sum total" },
  { of: ["plan_id"], words: "plan" },
  { of: ["billing_interval"], words: "interval period cycle billing_cycle billing_period" },
  { of: ["entries"], words: "email address item value" },
  { of: ["field_name"], words: "name key slug" },
  { of: ["field_label"], words: "label title display_name" },
  { of: ["field_type"], words: "type" },
  { of: ["field_options"], words: "option choice value" },
  { of: ["default_value"], words: "default" },
  { of: ["validation_rules"], words: "validation rule" },
  { of: ["is_required"], words: "mandatory" },
  { of: ["is_active"], words: "enabled" },
  { of: ["enabled"], words: "is_active" },
  { of: ["display_order"], words: "order position sort_order" },
  { of: ["opt_in_type"], words: "opt_in double_opt_in optin" },
  { of: ["steps"], words: "email message mail sequence" },
  { of: ["delay"], words: "wait" },
  { of: ["csvFile", "file"], words: "csv file upload csv_file" },
  { of: ["encoding"], words: "charset" },
  { of: ["update_existing"], words: "update overwrite upsert" },
  { of: ["dry_run"], words: "dry" },
  { of: ["link"], words: "index link_index" },
  { of: ["limit"], words: "per_page page_size page_limit size count take top max_result row" },
  { of: ["page"], words: "offset skip page_number page_no p pg" },
  { of: ["after"], words: "cursor next_cursor next starting_after start_after page_token next_page_token" },
  { of: ["search"], words: "q query term keyword search_term" },
  { of: ["window_days", "window", "days"], words: "window_day window day period" },
  { of: ["start_date", "from"], words: "from start since from_date date_from begin start_date" },
  { of: ["end_date", "to"], words: "to until end to_date date_to end_date" },
];

/** Names of the API by their synonyms. */
const meanings = new Map<string, string[]>();
for (const { of, words } of synonyms) {
  for (const word of words.split(" ")) {
    const key = singular(word.replaceAll("_", ""));
    meanings.set(key, [...(meanings.get(key) ?? []), ...of]);
  }
}

/** The known names of one object of a request. */
export class KnownNames {
  readonly #names: readonly string[];
  /** Computed for the first unknown name, because most requests have none. */
  #spelled: readonly Spelled[] | undefined;

  /** @param names should be few: an unknown name is compared with each */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /**
   * The known name that was most probably meant.
   * @param isOpen whether a known name may be suggested for a synonym that shares no word with it
   */
  meantBy(unknown: string, isOpen: (name: string) => boolean = () => true): string | undefined {
    if (unknown.length > LONGEST) return undefined;
    const given = spell(unknown);
    if (given.words.length === 0) return undefined;
    this.#spelled ??= this.#names.map(spell);
    const targets = meanings.get(given.joined) ?? [];
    return (
      this.#spelled.find(({ joined }) => joined === given.joined)?.name ??
      targets.find(
        (target) =>
          this.#names.includes(target) &&
          (isOpen(target) || wordsOf(target).some((word) => given.words.includes(word))),
      ) ??
      this.#spelled.find(({ telling }) => telling === given.telling)?.name ??
      this.#spelled.find(({ words }) => isSlip(given.words, words))?.name
    );
  }

  /**
   * Like `meantBy`, for a name that is refused in any case, so that a wrong suggestion does no harm: also finds one typo in a
   * short name, if only one known name is as similar.
   */
  nearestTo(unknown: string): string | undefined {
    const meant = this.meantBy(unknown);
    if (meant !== undefined || unknown.length > LONGEST) return meant;
    const given = spell(unknown);
    this.#spelled ??= this.#names.map(spell);
    const near = this.#spelled.filter(
      ({ joined }) => given.joined.length >= SHORTEST_GUESS && slipsBetween(given.joined, joined) === 1,
    );
    return near.length === 1 ? near[0]?.name : undefined;
  }
}

/** A name in its forms for comparison. */
interface Spelled {
  readonly name: string;
  readonly words: readonly string[];
  /** Without separators, singular. */
  readonly joined: string;
  /** Its significant words, singular and sorted. */
  readonly telling: string;
}

function spell(name: string): Spelled {
  const words = wordsOf(name);
  const telling = words.filter((word) => !LITTLE.has(word));
  return {
    name,
    words,
    joined: singular(words.join("")),
    telling: (telling.length === 0 ? words : telling).map(singular).toSorted().join(" "),
  };
}

/**
 * Splits a name into words: `firstName`, `First-Name` and `first_name` are first and name; `permissions[]` is
 * permissions.
 */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");
}

function singular(word: string): string {
  return word.length < 4 ? word : word.replace(/ies$/, "y").replace(/s$/, "");
}

/** Words without meaning of their own in names of flags. */
const LITTLE = new Set(["is", "has", "enable", "enabled", "use"]);

/** Whether one word has a typo, or the whole name if a separator is missing, too. */
function isSlip(given: readonly string[], known: readonly string[]): boolean {
  if (given.length !== known.length) return isMistyped(given.join(""), known.join(""));
  const different = given.flatMap((word, at) => (word === known[at] ? [] : { word, meant: known[at] ?? "" }));
  const [only] = different;
  return different.length === 1 && only !== undefined && isMistyped(only.word, only.meant);
}

/**
 * Whether a word is a typo: two swapped neighbouring letters from four letters on; any one typo from six letters on
 * (`list` is not a typo of `last`); two from nine letters on.
 */
function isMistyped(word: string, meant: string): boolean {
  const length = Math.max(word.length, meant.length);
  const slips = slipsBetween(word, meant);
  if (slips === 1)
    return length >= 6 || (length >= 4 && word.length === meant.length && isSwapped(word, meant));
  return slips === 2 && length >= 9;
}

function isSwapped(one: string, other: string): boolean {
  return Array.from(one).toSorted().join("") === Array.from(other).toSorted().join("");
}

/** Number of letters missing, added, changed or swapped with their neighbours (optimal string alignment); at most 3. */
function slipsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = next;
  }
  return Math.min(last[other.length] ?? 3, 3);
}
