/** Reads a design from a request. Every fault names the field of its block: `design.blocks[3].url`. */
import type { TSchema } from "typebox";
import { locateFaults, readTemplate, type TemplateFault } from "#mail/merge-tags/read-template.ts";
import { ApiError, type FieldFault } from "#platform/errors.ts";
import { bodyReader } from "#platform/http/request/validate.ts";
import {
  ColumnsBlock,
  type Design,
  type DesignBlock,
  DesignDocument,
  type InnerBlock,
  innerBlocks,
  MOST_BLOCKS,
} from "./design.ts";
import { lostTags } from "./rich-text.ts";

/** Faults that one answer names. */
const MOST_FAULTS = 20;

const readDocument = reader(DesignDocument);
const readColumns = reader(ColumnsBlock);
const readInner = Object.fromEntries(
  Object.entries(innerBlocks).map(([type, shape]) => [type, reader(shape)]),
) as Readonly<Record<string, Reader>>;

/** Whether a document is a design of ours, and not that of another editor. */
export function isDesign(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "version" in value &&
    value.version === 1 &&
    "blocks" in value &&
    Array.isArray(value.blocks)
  );
}

/** The design, or its faults, at most 20. A design may have thousands of merge tags, so it is read in a thread. */
export function readDesign(
  given: unknown,
):
  | { readonly ok: true; readonly design: Design }
  | { readonly ok: false; readonly faults: readonly FieldFault[] } {
  const reading = new DesignReading();
  const design = reading.design(given);
  const faults = reading.faults.slice(0, MOST_FAULTS);
  return faults.length === 0 ? { ok: true, design } : { ok: false, faults };
}

class DesignReading {
  readonly faults: FieldFault[] = [];
  #blocks = 0;

  design(given: unknown): Design {
    const document = this.#read(readDocument, given, "design") as Pick<Design, "version"> & {
      readonly blocks: readonly unknown[];
      readonly preheader?: string;
    };
    if (this.faults.length > 0) return { version: 1, blocks: [] };
    if (document.preheader !== undefined) this.#checkTags(document.preheader, "design.preheader");
    const blocks = document.blocks.map((block, at) => this.#block(block, `design.blocks[${at}]`));
    return { ...document, blocks };
  }

  #block(given: unknown, field: string): DesignBlock {
    if (typeOf(given) !== "columns")
      return this.#inner(given, field, Object.keys(innerBlocks).concat("columns"));
    this.#count(field);
    const block = this.#read(readColumns, given, field) as {
      readonly columns?: readonly { blocks: unknown[] }[];
    };
    const columns = (block.columns ?? []).map(({ blocks }, column) => ({
      blocks: blocks.map((inner, at) =>
        this.#inner(inner, `${field}.columns[${column}].blocks[${at}]`, Object.keys(innerBlocks)),
      ),
    }));
    return { ...block, type: "columns", columns };
  }

  #inner(given: unknown, field: string, types: readonly string[]): InnerBlock {
    this.#count(field);
    const type = typeOf(given);
    const read = type !== undefined && Object.hasOwn(readInner, type) ? readInner[type] : undefined;
    if (read === undefined) {
      this.faults.push({
        field: `${field}.type`,
        message: `${field}.type must be one of ${types.join(", ")}`,
      });
      return { type: "spacer", height: 1 };
    }
    const block = this.#read(read, given, field);
    if (typeof block === "object" && block !== null) this.#checkTexts(block, field, type === "html");
    return block as InnerBlock;
  }

  #checkTexts(value: object, field: string, isRaw: boolean): void {
    for (const [name, one] of Object.entries(value)) {
      const place = Array.isArray(value) ? `${field}[${name}]` : `${field}.${name}`;
      if (typeof one === "string") {
        this.#checkTags(one, place, name === "html" && !isRaw);
        if (/^(?:url|src|icon_src)$/.test(name)) this.#checkAddress(one, place, name !== "url");
      } else if (typeof one === "object" && one !== null) this.#checkTexts(one, place, isRaw);
    }
  }

  #checkTags(text: string, field: string, isRich = false): void {
    const reading = readTemplate(text);
    if (!reading.ok) this.#say(field, reading.faults);
    else if (isRich) {
      const message = "Rich text has no place for a merge tag here.";
      this.#say(
        field,
        locateFaults(
          text,
          lostTags(text).map((at) => ({ at, message })),
        ),
      );
    }
  }

  #say(field: string, faults: readonly TemplateFault[]): void {
    for (const { line, column, message } of faults) {
      this.faults.push({ field, message: `${field}, line ${line}, column ${column}: ${message}` });
    }
  }

  #checkAddress(text: string, field: string, isPicture: boolean): void {
    const schemes = isPicture ? "http, https or cid" : "http, https, mailto or tel";
    const allowed = isPicture ? pictureAddress : linkAddress;
    if (!allowed.test(text)) this.faults.push({ field, message: `${field} must begin with ${schemes}` });
  }

  #count(field: string): void {
    this.#blocks += 1;
    if (this.#blocks !== MOST_BLOCKS + 1) return;
    this.faults.push({
      field,
      message: `design must have at most ${MOST_BLOCKS} blocks, those in columns included`,
    });
  }

  #read(read: Reader, given: unknown, field: string): unknown {
    try {
      return read(given);
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      for (const { field: name, message } of fault.details ?? []) {
        const isWhole = name === "body";
        const place = isWhole ? field : `${field}.${name}`;
        this.faults.push({
          field: place,
          message: isWhole ? message.replace("body", field) : `${field}.${message}`,
        });
      }
      if (fault.details === undefined) this.faults.push({ field, message: `${field} must be an object` });
      return {};
    }
  }
}

/** A merge tag may be the whole address: its value is checked when it is written. */
const linkAddress = /^(?:https?:\/\/|mailto:|tel:|\{\{|\{%)/i;
const pictureAddress = /^(?:https?:\/\/|cid:|\{\{|\{%)/i;

type Reader = (value: unknown) => unknown;

function reader(shape: TSchema): Reader {
  const read = bodyReader(shape);
  return (value) => read(value);
}

function typeOf(block: unknown): string | undefined {
  return typeof block === "object" && block !== null && "type" in block && typeof block.type === "string"
    ? block.type
    : undefined;
}
