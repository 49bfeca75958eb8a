/** The field of a password that a person chooses. */
import reset from "schema:PasswordReset";
import { Field } from "../../parts/field.tsx";

const { minLength = 0, maxLength = 0 } = reset.properties.password ?? {};

export function NewPassword({ name = "password", label = "Password" }) {
  return (
    <Field
      name={name}
      type="password"
      label={label}
      hint={`At least ${minLength} characters. A few unrelated words are good.`}
      minLength={minLength}
      maxLength={maxLength}
      autoComplete="new-password"
      isRequired
    />
  );
}
