/**
 * The form of an act: gives what was typed, and refusals of the API land at their fields. They leave with the next change, not when
 * the field loses the focus: otherwise the form would shrink under the press of its button, and the press would miss.
 */
import { PosthasteError } from "@posthaste/client";
import type { ReactNode, Ref } from "react";
import { Form } from "react-aria-components";
import { fieldErrors } from "../api/act.ts";
import { Button } from "./button.tsx";
import { Refusal } from "./refusal.tsx";

interface Act {
  readonly error: unknown;
  readonly isPending: boolean;
  readonly reset: () => void;
}

/** What was typed, by the names of the fields. */
export type Texts = Readonly<Record<string, string>>;

interface Props {
  readonly act: Act;
  readonly onSubmit: (texts: Texts) => void;
  readonly children: ReactNode;
  /** The width and the gaps, where they differ. */
  readonly className?: string;
  readonly ref?: Ref<HTMLFormElement>;
}

export function ActForm({ act, onSubmit, children, className = "flex flex-col gap-4", ref }: Props) {
  return (
    <Form
      {...(ref && { ref })}
      validationErrors={fieldErrors(act.error)}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(textsOf(event.currentTarget));
      }}
    >
      <div className={className} onChange={() => mayForget(act.error) && act.reset()}>
        {children}
      </div>
    </Form>
  );
}

interface ActsProps {
  readonly act: Omit<Act, "reset">;
  readonly onCancel?: (() => void) | undefined;
  /** The act on the button. */
  readonly children: string;
}

/** The end of a form in a dialog: why it was refused, and its buttons. */
export function FormActs({ act, onCancel, children }: ActsProps) {
  return (
    <>
      <Refusal error={act.error} />
      <div className={`mt-2 flex gap-2 ${onCancel ? "justify-end" : ""}`}>
        {onCancel && <Button onPress={onCancel}>Cancel</Button>}
        <Button type="submit" kind="primary" isPending={act.isPending}>
          {children}
        </Button>
      </div>
    </>
  );
}

/** A limit of attempts holds whatever is typed. */
function mayForget(error: unknown): boolean {
  return error instanceof PosthasteError && error.status !== 429;
}

/** Without spaces at the ends, which belong to passwords only. */
function textsOf(form: HTMLFormElement): Texts {
  const texts = Array.from(new FormData(form)).flatMap(([name, value]) => {
    if (typeof value !== "string") return [];
    const field = form.elements.namedItem(name);
    const isPassword = field instanceof HTMLInputElement && field.type === "password";
    return [[name, isPassword ? value : value.trim()]];
  });
  return Object.fromEntries(texts);
}
