/** How many of several things came out how, a line each: "12 added". */
import { countText } from "./numbers.ts";

export function CountLines({ rows }: { readonly rows: readonly (readonly [text: string, count: number])[] }) {
  return (
    <ul>
      {rows.map(([text, count]) => (
        <li key={text} className={count === 0 ? "text-muted" : ""}>
          <span className="inline-block w-20 pr-3 text-right font-medium">{countText(count)}</span>
          {text}
        </li>
      ))}
    </ul>
  );
}
