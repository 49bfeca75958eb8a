/** The name in From of a campaign's mail, as a list, a campaign or an autoresponder gives it. */
import { headerTextFault } from "#mail/address.ts";
import { holdsMergeTag } from "#mail/merge-tags/template-pieces.ts";
import { invalid } from "#platform/errors.ts";

/** Null for a blank one, which is none. @throws ApiError VALIDATION_ERROR */
export function readFromName(text: string | null | undefined): string | null {
  const fault = text == null ? null : fromNameFault(text);
  if (fault !== null) throw invalid({ field: "from_name", message: `from_name: ${fault}` });
  return text?.trim() || null;
}

function fromNameFault(text: string): string | null {
  // It is the same for every recipient: a merge tag would be shown to all of them as it is written.
  if (holdsMergeTag(text))
    return "merge tags are not replaced here; write the name as everybody is to read it";
  return headerTextFault(text);
}
