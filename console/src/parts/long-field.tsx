/** A field for several lines, with its label, a hint, and the API's own sentence when the value is refused. */
import type { ReactNode } from "react";
import { FieldError, Label, Text, TextArea, TextField, type TextFieldProps } from "react-aria-components";

interface Props extends Omit<TextFieldProps, "className" | "children"> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly isMono?: boolean;
}

export function LongField({ label, hint, placeholder, rows = 3, isMono = false, ...rest }: Props) {
  return (
    <TextField {...rest} className="flex flex-col gap-1">
      <Label className="font-medium">{label}</Label>
      <TextArea
        rows={rows}
        placeholder={placeholder ?? ""}
        className={`resize-y rounded-control border border-control bg-surface px-3 py-2 data-[focused]:border-accent data-[invalid]:border-bad ${isMono ? "font-mono text-small" : ""}`}
      />
      {hint && (
        <Text slot="description" className="text-small text-muted">
          {hint}
        </Text>
      )}
      <FieldError className="text-small text-bad" />
    </TextField>
  );
}
