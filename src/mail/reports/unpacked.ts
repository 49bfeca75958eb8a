/** Why a report is refused; each is a kind that is counted. */
export type UnpackRefusal =
  | "empty"
  | "corrupt"
  | "too_large"
  | "too_many_entries"
  | "bad_entry_name"
  | "nested_archive"
  | "encrypted";

/** One file. `name` is that in the archive; null where there is none. */
export type Unpacked =
  | { readonly ok: true; readonly name: string | null; readonly octets: Buffer }
  | { readonly ok: false; readonly name: string | null; readonly reason: UnpackRefusal };
