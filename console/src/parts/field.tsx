/** A field of a form with its label, a hint, and the API's own sentence when the value is refused. */
import type { ReactNode } from "react";
import { FieldError, Input, Label, Text, TextField, type TextFieldProps } from "react-aria-components";

interface Props extends Omit<TextFieldProps, "className" | "children"> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly placeholder?: string;
  /** The reason shown while `isInvalid`; refusals of the API come through the form. */
  readonly errorMessage?: string;
}

export function Field({ label, hint, placeholder, errorMessage, autoFocus = false, ...rest }: Props) {
  return (
    <TextField {...rest} className="flex flex-col gap-1">
      <Label className="font-medium">{label}</Label>
      <Input
        // React gives the focus as it adds the element. The TextField gives it later, and not if a dialog whose former field
        // is gone moved it meanwhile.
        autoFocus={autoFocus}
        placeholder={placeholder ?? ""}
        className="h-9 rounded-control border border-control bg-surface px-3 data-[focused]:border-accent data-[invalid]:border-bad"
      />
      {hint && (
        <Text slot="description" className="text-small text-muted">
          {hint}
        </Text>
      )}
      <FieldError className="text-small text-bad first-letter:uppercase">{errorMessage}</FieldError>
    </TextField>
  );
}
