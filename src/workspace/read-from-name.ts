/** The display name in From of bulk mail, as a mailing list, campaign or autoresponder sets it. */
import { headerTextFault } from "#mail/address.ts";
import { holdsMergeTag } from "#mail/merge-tags/template-pieces.ts";
import { invalid } from "#platform/errors.ts";

/**
 * Trimmed; null for a blank name.
 * @throws ApiError VALIDATION_ERROR
 */
export function readFromName(text: string | null | undefined): string | null {
  const fault = text == null ? null : fromNameFault(text);
  if (fault !== null) throw invalid({ field: "from_name", message: `from_name: ${fault}` });
  return text?.trim() || null;
}

function fromNameFault(text: string): string | null {
  // A merge tag in this name would not be replaced, so recipients would see the tag itself.
  if (holdsMergeTag(text))
    return "merge tags are not replaced here; write the name as recipients should see it";
  return headerTextFault(text);
}
