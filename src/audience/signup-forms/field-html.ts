/** The markup of a form's fields. */
import type { Option } from "#audience/custom-fields/custom-field.ts";
import { choiceOf } from "#audience/custom-fields/field-value-reader.ts";
import { readYesNo } from "#audience/custom-fields/yes-no.ts";
import { LONGEST_PERSON_NAME } from "#audience/subscribers/subscriber-input.ts";
import { type Html, html, ready } from "#platform/http/response/html-page.ts";
import type { Texts } from "#workspace/texts/texts.ts";
import type { FormField, TypedText } from "./form-fields.ts";

const LONGEST_TEXT = 1_000;
const LONGEST_TEXTAREA = 5_000;
const LONGEST_URL = 2_048;

const autocomplete: Readonly<Record<string, string>> = { first_name: "given-name", last_name: "family-name" };

/** @param typed what the fields show already */
export function fieldsHtml(fields: readonly FormField[], typed: TypedText, texts: Texts): Html {
  return html`${fields.map((field) => html`${fieldHtml(field, typed(field.control), texts)}\n`)}`;
}

function fieldHtml(field: FormField, typed: readonly string[], texts: Texts): Html {
  const { control, isRequired, definition } = field;
  const label = html`<bdi>${field.label}</bdi>`;
  const required = ready(isRequired ? " required" : "");
  const [value = ""] = typed;
  if (definition === null) {
    return html`<label>${label}<input name="${control}" autocomplete="${autocomplete[control] ?? "off"}" maxlength="${LONGEST_PERSON_NAME}" value="${value}"${required}></label>`;
  }
  const { placeholder, help_text, validation_rules: rules } = definition;
  const help = help_text === null ? "" : html`<span class="help"><bdi>${help_text}</bdi></span>`;
  const hint = placeholder === null ? "" : html` placeholder="${placeholder}"`;
  const input = (type: string, limits: Html | string = "") =>
    html`<label>${label}${help}<input type="${type}" name="${control}" value="${value}"${hint}${limits}${required}></label>`;
  const most = (own: number) => html` maxlength="${Math.min(rules?.max_length ?? own, own)}"`;
  switch (definition.field_type) {
    case "text":
      return input("text", most(LONGEST_TEXT));
    case "textarea":
      // A line feed after the tag is not part of the text.
      return html`<label>${label}${help}<textarea name="${control}" rows="4"${hint}${most(LONGEST_TEXTAREA)}${required}>\n${value}</textarea></label>`;
    case "number":
      return input("number", html` step="any"${bound("min", rules?.min)}${bound("max", rules?.max)}`);
    case "date":
      return input("date");
    case "email":
      return input("email", most(LONGEST_TEXT));
    case "url":
      return input("url", most(LONGEST_URL));
    case "boolean":
      return boxHtml(
        { control, value: "true", label: field.label, isTicked: readYesNo(value) === true, isRequired },
        help,
      );
    case "select":
      return html`<label>${label}${help}<select name="${control}"${required}><option value="">${texts.say("signup_choose")}</option>${(definition.field_options ?? []).map((option) => optionHtml(option, value))}</select></label>`;
    case "multiselect":
      return html`<fieldset><legend>${label}</legend>${help}${(definition.field_options ?? []).map((option) =>
        boxHtml({
          control,
          value: choiceOf(option),
          label: labelOf(option),
          isTicked: typed.includes(choiceOf(option)),
        }),
      )}</fieldset>`;
  }
}

interface Box {
  readonly control: string;
  readonly value: string;
  readonly label: string;
  readonly isTicked: boolean;
  readonly isRequired?: boolean;
}

/** A box with its label beside it. */
export function boxHtml(
  { control, value, label, isTicked, isRequired = false }: Box,
  help: Html | string = "",
): Html {
  const marks = ready(`${isTicked ? " checked" : ""}${isRequired ? " required" : ""}`);
  return html`<label class="box"><input type="checkbox" name="${control}" value="${value}"${marks}><span class="lines"><bdi>${label}</bdi>${help}</span></label>`;
}

function optionHtml(option: Option, chosen: string): Html {
  const value = choiceOf(option);
  return html`<option value="${value}"${ready(value === chosen ? " selected" : "")}>${labelOf(option)}</option>`;
}

function labelOf(option: Option): string {
  return typeof option === "string" ? option : option.label;
}

function bound(name: "min" | "max", value: number | undefined): Html | string {
  return value === undefined ? "" : html` ${name}="${value}"`;
}
