/** The part of MJML's packages that is used here; they bring no types of their own. */
declare module "mjml-core" {
  export interface MjmlComponent {
    /** Whether its content is HTML, which MJML does not read. */
    readonly endingTag: boolean;
    getTagName(): string;
  }

  export interface MjmlPreset {
    readonly components: readonly MjmlComponent[];
  }

  export interface MjmlError {
    readonly line: number;
    readonly message: string;
    readonly tagName: string;
  }

  export default function mjml2html(
    source: string,
    options: {
      readonly presets: readonly MjmlPreset[];
      readonly fonts: Readonly<Record<string, string>>;
      readonly ignoreIncludes: boolean;
      /** Empty: it asks the file system nothing. */
      readonly filePath: "";
      readonly validationLevel: "soft";
    },
  ): Promise<{ readonly html: string; readonly errors: readonly MjmlError[] }>;
}

declare module "mjml-preset-core" {
  import type { MjmlPreset } from "mjml-core";

  const preset: MjmlPreset;
  export default preset;
}
