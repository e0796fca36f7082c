import { AddressForm } from './address-form.tsx';
import { Logo } from './logo.tsx';

/** The shell's one page. */
export function App() {
  return (
    <>
      <header class="page-header">
        <span class="brand">
          <Logo />
          Antway
        </span>
      </header>
      <main>
        <AddressForm names={new Map()} />
      </main>
    </>
  );
}
