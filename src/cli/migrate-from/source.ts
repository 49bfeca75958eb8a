/**
 * What a source gives: one stream of lists, fields, people, suppressions and templates. A list comes before its people;
 * everything else may come in any order. The files of a product translate its data into these shapes, and everything
 * after them is the same for all products.
 */
import type { FieldType } from "#audience/custom-fields/field-types.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";

export interface GivenList {
  readonly kind: "list";
  /** What memberships name it by. */
  readonly key: string;
  readonly name: string;
  readonly description?: string;
  readonly isDoubleOptIn?: boolean;
}

/** A field whose type the source knows. Other fields get the type that their values have. */
export interface DeclaredField {
  readonly kind: "field";
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  /** Choices of select and multiselect. */
  readonly options?: readonly string[];
}

export type GivenValue = string | number | boolean | readonly string[];

/** A row of a file, by the line on which it starts, from 1. */
export interface FileRow {
  readonly file: string;
  readonly line: number;
}

export interface GivenPerson {
  readonly kind: "person";
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  /** Where the person comes from; empty: the product. */
  readonly source?: string;
  readonly memberships: readonly { readonly list: string; readonly status: SubscriberStatus }[];
  /** The row of a file that has the person; undefined for what an API says. */
  readonly row?: FileRow;
  /** Values by the source's names of fields, or by names of our own. */
  readonly values: readonly (readonly [name: string, value: GivenValue])[];
}

/** An address or a domain that gets no mail. */
export interface GivenSuppression {
  readonly kind: "suppression";
  /** Name of the suppression list, which says why. */
  readonly list: string;
  readonly value: string;
  /** What the person of this address is on every list; null if the suppression says nothing about memberships. */
  readonly status: SubscriberStatus | null;
}

export interface GivenTemplate {
  readonly kind: "template";
  readonly template: "mail" | "layout";
  readonly name: string;
  /** Empty for a layout. */
  readonly subject: string;
  readonly html: string;
  /** The text part; null: made from the HTML. */
  readonly text: string | null;
  /** Tags of the product that have no translation. A template with one is reported and not created. */
  readonly untranslated: readonly string[];
}

/** Something that does not come over. */
export interface GivenOmission {
  readonly kind: "omission";
  readonly what: OmissionKind;
  /** The list or file in which it is. */
  readonly where: string;
  /** Its address or name. */
  readonly name: string;
  readonly reason: string;
}

/**
 * What an omission is about. A value that is left out does not keep its person from coming, and a duplicate is a row whose
 * person comes by a later one.
 */
export const omissionKinds = ["person", "duplicate", "value", "suppression", "template", "field"] as const;
export type OmissionKind = (typeof omissionKinds)[number];

/** A sentence for the report. */
export interface GivenNote {
  readonly kind: "note";
  readonly text: string;
}

export type Given =
  | GivenList
  | DeclaredField
  | GivenPerson
  | GivenSuppression
  | GivenTemplate
  | GivenOmission
  | GivenNote;

export type Source = AsyncIterable<Given>;

/** What the caller says of what is read. */
export interface SourceOptions {
  /** The list of people whom the source puts on none. */
  readonly list: string | undefined;
  /** The status of people of files that do not say it; undefined: the caller has not said it either. */
  readonly status: SubscriberStatus | undefined;
  /** The status of people of single files, by the names that the caller gave; it takes precedence over `status`. */
  readonly statusesOfFiles: ReadonlyMap<string, SubscriberStatus>;
  /** Columns of files that say who gets no mail, in place of those that are found by their names; or `ignore`. */
  readonly optOutColumns: readonly string[];
  /** A folder for files, which is deleted after the run. */
  readonly folder: string;
}

/** @param path of a file, a folder or a zip file */
export type ReadFiles = (path: string, options: SourceOptions) => Source;

/**
 * @param url of the product; undefined: its public API
 * @throws Error for a secret that cannot be one of the product, and without a URL where it is needed
 */
export type ReadApi = (url: URL | undefined, secret: string, options: SourceOptions) => Source;
