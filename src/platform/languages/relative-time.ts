/** The time until something happens, in words. */
import type { Language } from "./language.ts";

/** Such as "in 5 minutes": seconds below a minute, minutes below two hours, hours above, rounded up. */
export function waitText(seconds: number, language: Language): string {
  const words = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  const text =
    seconds < 60
      ? words.format(seconds, "second")
      : seconds < 2 * 3_600
        ? words.format(Math.ceil(seconds / 60), "minute")
        : words.format(Math.ceil(seconds / 3_600), "hour");
  // The Arabic phrase of CLDR can also mean "within 5 minutes".
  return language === "ar" ? text.replace("خلال", "بعد") : text;
}
