//! How the cost grows: with the data, with those who want the same, with clients and processes.

use super::{
    Bench, Engine, Extent, FLEETS, Wish,
    data::{DAYS, sign_in},
    show::{Line, Table},
};

pub async fn run(wish: &Wish, engine: &Engine) {
    let mut data_table = Table::alone(format!("{}: by the size of the data", engine.name()));
    let mut clients_table = Table::alone(format!("{}: by clients", engine.name()));
    // Sailings are about 2,000 to a fleet and more with its past, bookings 60 to a fleet and day.
    for (days, scale) in [(DAYS, FLEETS), (DAYS, 50), (DAYS, 500), (35, 500)] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = engine.fill(folder.path(), Extent { days, scale }).await;
        let service = data.serve().await;
        let token = sign_in(&service).await;
        let services = vec![&service];
        let bench = Bench { engine, services, time: wish.time, clients: super::CLIENTS };
        let size = format!("{} sailings, {} bookings", data.sailings, data.bookings);
        let line = |what: &str| format!("{what}, {size}");
        let search = bench.measure(data.searches()).await;
        data_table.line(Line::alone(&line("search"), &search));
        let rare = bench.measure(data.rare_searches()).await;
        data_table.line(Line::alone(&line("search, not shared"), &rare));
        let year = bench.measure(data.years(&token)).await;
        data_table.line(Line::alone(&line("yearly report"), &year));
        let spread = bench.measure(data.sales(false)).await;
        data_table.line(Line::alone(&line("book, spread"), &spread));
        let hot = bench.measure(data.sales(true)).await;
        data_table.line(Line::alone(&line("book, one sailing"), &hot));
        if scale == FLEETS {
            for clients in [1, 4, 16, 64, 256] {
                let bench = Bench { clients, services: vec![&service], ..bench };
                let search = bench.measure(data.searches()).await;
                clients_table.line(Line::alone(&format!("search, {clients} clients"), &search));
                let book = bench.measure(data.sales(false)).await;
                clients_table.line(Line::alone(&format!("book, {clients} clients"), &book));
            }
            if let Engine::Postgres { .. } = engine {
                let second = data.serve().await;
                let bench = Bench { services: vec![&service, &second], ..bench };
                let search = bench.measure(data.searches()).await;
                clients_table.line(Line::alone("search, two processes", &search));
                let book = bench.measure(data.sales(false)).await;
                clients_table.line(Line::alone("book, two processes", &book));
                let hot = bench.measure(data.sales(true)).await;
                clients_table.line(Line::alone("book one sailing, two processes", &hot));
            }
        }
        data.close().await;
    }
    data_table.print();
    clients_table.print();
}
