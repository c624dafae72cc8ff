// Searches a sailing, books it, reads the state of the payment, and cancels.

import { ConflictError, Dermaga, type Contact } from "dermaga";

const guest: Contact = { name: "Sari Dewi", email: "sari@example.com", phone: "081234567890" };

export async function book(client: Dermaga, date: string): Promise<string> {
  const sailings = await client.routes.searchSailings({
    from: "Sanur",
    to: "Nusa Penida",
    date,
    qty: 1,
    sort_by: "price",
  });
  const sailing = sailings.items[0];
  if (!sailing) throw new Error(`Nothing sails on ${date}.`);

  const booking = await client.bookings
    .create({
      type: "speedboat",
      item_id: sailing.item_id,
      route_time_id: sailing.route_time_id,
      qty: 1,
      contact: guest,
      passengers: [{ name: guest.name }],
    })
    .catch((error: unknown) => {
      if (error instanceof ConflictError && error.code === "sold_out") {
        console.log("Somebody else was faster:", error.data);
      }
      throw error;
    });
  console.log(`Pay at ${booking.payment?.redirect_url} before ${booking.expires_at}.`);

  // `pending_payment` until the customer has paid, then `paid`.
  const credentials = { code: booking.code, email: guest.email };
  const { status, price } = await client.bookings.get(booking.id, credentials);
  console.log(`${booking.code}: ${status}, Rp ${price.total}`);

  const reason = "Change of plans";
  const cancelled = await client.bookings.cancel(booking.id, { ...credentials, reason });
  return cancelled.status;
}
