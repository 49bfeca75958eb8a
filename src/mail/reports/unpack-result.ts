/** Why a file is refused; each reason is counted separately. */
export type UnpackRefusal =
  | "empty"
  | "corrupt"
  | "too_large"
  | "too_many_entries"
  | "bad_entry_name"
  | "nested_archive"
  | "encrypted";

/** One file. `name`: its name in the archive, null outside of an archive. */
export type Unpacked =
  | {
      readonly ok: true;
      readonly name: string | null;
      readonly octets: Buffer;
      /** The archive is truncated inside this file: `octets` are those before the cut, without a verified checksum. */
      readonly isCutOff: boolean;
    }
  | { readonly ok: false; readonly name: string | null; readonly reason: UnpackRefusal };
