//! How cost grows with the data, with contention for one sailing, with clients and with processes.

use dermaga::demo::MAX_DAYS;

use super::{
    Bench, Engine, Extent, FLEETS, Options,
    data::{DAYS, sign_in},
    show::{Line, Table},
};

pub async fn run(options: &Options, engine: &Engine) {
    // A fleet has about 2,000 sailings, and 60 sailings and 60 bookings per day of history. The
    // last two sizes have the same days, for the reports, and different numbers of sales.
    for (days, scale) in [(DAYS, FLEETS), (DAYS, 50), (DAYS, 500), (MAX_DAYS, 6), (MAX_DAYS, 54)] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = engine.fill(folder.path(), Extent { days, scale }).await;
        let service = data.serve().await;
        let token = sign_in(service.address).await;
        let services = vec![&service];
        let bench = Bench { engine, services, time: options.time, clients: super::CLIENTS };
        let size = format!("{} sailings, {} bookings", data.sailings, data.bookings);
        let mut table = Table::alone(format!("{}: {size}", engine.name()));
        let search = bench.measure(data.searches()).await;
        table.line(Line::alone("search", &search));
        let rare = bench.measure(data.rare_searches()).await;
        table.line(Line::alone("search, not shared", &rare));
        let year = bench.measure(data.years(&token)).await;
        table.line(Line::alone("yearly report", &year));
        let spread = bench.measure(data.sales(false)).await;
        table.line(Line::alone("book, spread", &spread));
        let hot = bench.measure(data.sales(true)).await;
        table.line(Line::alone("book, one sailing", &hot));
        if scale == FLEETS {
            for clients in [1, 4, 16, 64, 256] {
                let bench = Bench { clients, services: vec![&service], ..bench };
                let search = bench.measure(data.searches()).await;
                table.line(Line::alone(&format!("search, {clients} clients"), &search));
                let book = bench.measure(data.sales(false)).await;
                table.line(Line::alone(&format!("book, {clients} clients"), &book));
            }
            if let Engine::Postgres { .. } = engine {
                let second = data.serve().await;
                let bench = Bench { services: vec![&service, &second], ..bench };
                let search = bench.measure(data.searches()).await;
                table.line(Line::alone("search, two processes", &search));
                let book = bench.measure(data.sales(false)).await;
                table.line(Line::alone("book, two processes", &book));
                let hot = bench.measure(data.sales(true)).await;
                table.line(Line::alone("book one sailing, two processes", &hot));
            }
        }
        data.close().await;
        table.print();
    }
}
