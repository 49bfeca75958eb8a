import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { reloadAfterUpgrade } from "./reload-after-upgrade.ts";
import { createPages } from "./routes.tsx";
import "./tokens.css";

const queries = new QueryClient({
  // The client of the API tries again by itself, where that is safe.
  defaultOptions: {
    // What is asked for without a network fails at once. Held back, an act would run later, also after the person has gone back.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});
const pages = createPages(queries);
reloadAfterUpgrade();
const place = document.getElementById("root");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={pages} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
