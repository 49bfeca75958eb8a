/**
 * The form of an act: refusals of the API land at their fields. They leave with the next change, not when the field loses the
 * focus: otherwise the form would shrink under the press of its button, and the press would miss.
 */
import type { FormEventHandler, ReactNode } from "react";
import { Form } from "react-aria-components";
import { fieldErrors } from "../api/act.ts";

interface Props {
  readonly act: { readonly error: unknown; readonly isError: boolean; readonly reset: () => void };
  readonly onSubmit: FormEventHandler<HTMLFormElement>;
  readonly children: ReactNode;
}

export function ActForm({ act, onSubmit, children }: Props) {
  return (
    <Form validationErrors={fieldErrors(act.error)} onSubmit={onSubmit}>
      <div className="flex flex-col gap-4" onChange={() => act.isError && act.reset()}>
        {children}
      </div>
    </Form>
  );
}
