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
  | {
      readonly ok: true;
      readonly name: string | null;
      readonly octets: Buffer;
      /** The archive breaks off in the file: these are the octets before the break, and no checksum confirms them. */
      readonly isCutOff: boolean;
    }
  | { readonly ok: false; readonly name: string | null; readonly reason: UnpackRefusal };
