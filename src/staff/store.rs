//! The SQL of staff.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Value, json};

use super::{
    model::{
        BankAccount, BankAccountForm, HeldPermission, Staff, StaffForm, StaffList, StaffQuery,
        StaffStatus, StaffSummary, WorkingType,
    },
    permissions::BY_LEVEL,
    rules::Authority,
};
use crate::{
    accounts,
    kernel::{
        access::{Level, Role, Rule},
        caller::Caller,
        confidential::Confidential,
        db::{Db, Tx},
        error::{Error, Result},
        http::Paged,
        ids::{self, Uuid},
        money::Rupiah,
        seal::Sealer,
    },
};

#[derive(crate::kernel::db::FromRow)]
pub struct StaffRow {
    id: Uuid,
    user_id: Uuid,
    name: String,
    email: String,
    pending_email: Option<String>,
    msisdn: Option<String>,
    join_date: NaiveDate,
    status: StaffStatus,
    permission_id: Uuid,
    permission_name: String,
    level: Level,
    working_type: WorkingType,
    show_salary: bool,
    salary: Option<Rupiah>,
    address: Value,
    bank_code: String,
    account_number: String,
    account_name: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl StaffRow {
    pub fn level(&self) -> Level {
        self.level
    }

    /// The response for this caller. The salary is for admins and the person itself, unless
    /// `show_salary` is set. The account number is for the person and for those who can change it.
    pub fn seen_by(self, caller: &Caller, sealer: &Sealer) -> Result<Staff> {
        let own = caller.person.id == self.user_id;
        let sees_salary = self.show_salary || caller.role == Role::Admin || own;
        let changes = caller.may(Rule::StaffWrite) && Authority::of(caller).is_above(self.level);
        let number = Some(self.account_number).filter(|sealed| !sealed.is_empty());
        let number = sealer.open_number(number.as_deref())?.unwrap_or(Confidential::new(""));
        Ok(Staff {
            id: self.id,
            user_id: self.user_id,
            name: self.name,
            email: self.email,
            pending_email: self.pending_email,
            msisdn: self.msisdn,
            join_date: self.join_date,
            status: self.status,
            permission_id: self.permission_id,
            permission: HeldPermission {
                id: self.permission_id,
                name: self.permission_name,
                level: self.level,
            },
            working_type: self.working_type,
            show_salary: self.show_salary,
            salary: self.salary.filter(|_| sees_salary),
            address: serde_json::from_value(self.address).map_err(Error::internal)?,
            bank_account: BankAccount {
                bank_code: self.bank_code,
                account_number: number.revealed_if(own || changes),
                account_name: self.account_name,
            },
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

macro_rules! staff {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, a.id AS user_id, a.name, a.email,
               (SELECT c.new_email FROM email_changes c
                WHERE c.account_id = a.id AND c.status = 'pending') AS pending_email,
               a.phone AS msisdn, s.join_date,
               a.status, p.id AS permission_id, p.name AS permission_name, p.level,
               s.working_type, s.show_salary, s.salary, s.address, s.bank_code,
               s.account_number, s.account_name, s.created_at, s.updated_at
             FROM staff s
             JOIN accounts a ON a.id = s.account_id
             JOIN permissions p ON p.id = s.permission_id",
            $rest
        )
    };
}

const BY_ID: &str = staff!(" WHERE s.id = $1");

pub async fn get(db: &Db, id: Uuid) -> Result<Option<StaffRow>> {
    Ok(db.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn get_in(tx: &mut Tx, id: Uuid) -> Result<Option<StaffRow>> {
    Ok(tx.sql(BY_ID).bind(id).maybe().await?)
}

pub async fn list(
    db: &Db,
    query: &StaffQuery,
    caller: &Caller,
    sealer: &Sealer,
) -> Result<Paged<StaffList>> {
    let sort = query.sort_by.map(|by| match by.as_str() {
        "name" => "lower(a.name)",
        "email" => "a.email",
        "join_date" => "s.join_date",
        "level" => BY_LEVEL,
        "status" => "a.status",
        _ => "s.created_at",
    });
    let paging = &query.paging;
    let (rows, total) = db
        .list(staff!(""))
        .filter("p.level = ?", query.level)
        .filter("a.status = ?", query.status)
        .search(&["a.email", "p.level", "a.name"], paging.search())
        .page(paging.sort(sort, "s.created_at"), "s.id", paging.limit(), paging.offset())
        .await?;
    let summary: StaffSummary = db
        .sql(
            "SELECT COUNT(*) AS total, COUNT(CASE WHEN a.status = 'active' THEN 1 END) AS active,
               COUNT(CASE WHEN a.status <> 'active' THEN 1 END) AS inactive
             FROM staff s JOIN accounts a ON a.id = s.account_id",
        )
        .one()
        .await?;
    let items: Result<Vec<_>> =
        rows.into_iter().map(|row: StaffRow| row.seen_by(caller, sealer)).collect();
    Ok(paging.page((items?, total)).map(|items| StaffList { items, summary }))
}

pub async fn insert(
    tx: &mut Tx,
    account_id: Uuid,
    form: &StaffForm,
    salary: Option<Rupiah>,
    sealer: &Sealer,
    now: DateTime<Utc>,
) -> Result<Uuid> {
    let id = ids::fresh();
    let BankAccountForm { bank_code, account_number, account_name } = &form.bank_account;
    tx.sql(
        "INSERT INTO staff (id, account_id, permission_id, join_date, working_type, show_salary,
           salary, address, bank_code, account_number, account_name, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)",
    )
    .bind(id)
    .bind(account_id)
    .bind(form.permission_id)
    .bind(form.join_date)
    .bind(form.working_type)
    .bind(form.show_salary)
    .bind(salary)
    .bind(json!(form.address))
    .bind(bank_code.to_string())
    .bind(sealer.seal(account_number)?)
    .bind(account_name.to_string())
    .bind(now)
    .run()
    .await?;
    Ok(id)
}

pub async fn update(
    tx: &mut Tx,
    id: Uuid,
    form: &StaffForm,
    salary: Option<Rupiah>,
    sealer: &Sealer,
    now: DateTime<Utc>,
) -> Result<()> {
    let BankAccountForm { bank_code, account_number, account_name } = &form.bank_account;
    tx.sql(
        "UPDATE staff SET permission_id = $1, join_date = $2, working_type = $3,
           show_salary = $4, salary = $5, address = $6, bank_code = $7, account_number = $8,
           account_name = $9, updated_at = $10
         WHERE id = $11",
    )
    .bind(form.permission_id)
    .bind(form.join_date)
    .bind(form.working_type)
    .bind(form.show_salary)
    .bind(salary)
    .bind(json!(form.address))
    .bind(bank_code.to_string())
    .bind(sealer.seal(account_number)?)
    .bind(account_name.to_string())
    .bind(now)
    .bind(id)
    .run()
    .await?;
    Ok(())
}

/// Re-encrypts data of older keys; returns the number of rows.
pub async fn reseal(db: &Db, sealer: &Sealer) -> Result<u64> {
    let rows: Vec<(Uuid, String)> =
        db.sql("SELECT id, account_number FROM staff WHERE account_number <> ''").all().await?;
    let mut resealed = 0;
    for (id, sealed) in rows {
        let Some(new) = sealer.reseal(&sealed)? else { continue };
        resealed += db
            .sql("UPDATE staff SET account_number = $1 WHERE id = $2 AND account_number = $3")
            .bind(new)
            .bind(id)
            .bind(sealed)
            .run()
            .await?;
    }
    Ok(resealed)
}

pub async fn salary(tx: &mut Tx, id: Uuid) -> Result<Option<Rupiah>> {
    Ok(tx.sql("SELECT salary FROM staff WHERE id = $1").bind(id).scalar().await?)
}

pub async fn delete(tx: &mut Tx, id: Uuid) -> Result<()> {
    tx.sql("DELETE FROM staff WHERE id = $1").bind(id).run().await?;
    Ok(())
}

#[derive(crate::kernel::db::FromRow)]
struct AuthorityRow {
    role: Role,
    level: Option<Level>,
    rules: Option<Value>,
}

/// Locks out other changes of staff and permissions until this transaction ends, and reads the
/// caller's current rights, which may have changed since authentication.
pub async fn authority(tx: &mut Tx, caller: &Caller) -> Result<Authority> {
    tx.lock("staff").await?;
    let row: AuthorityRow = tx
        .sql(
            "SELECT a.role, p.level, p.rules
             FROM sessions n
             JOIN accounts a ON a.id = n.account_id AND a.status = 'active'
               AND a.deleted_at IS NULL
             LEFT JOIN staff s ON s.account_id = a.id
             LEFT JOIN permissions p ON p.id = s.permission_id
             WHERE n.id = $1",
        )
        .bind(caller.session_id)
        .maybe()
        .await?
        .ok_or(Error::Unauthenticated)?;
    match (row.role, row.level) {
        (Role::Admin, _) => Ok(Authority::Admin),
        (Role::Staff, Some(level)) => {
            Ok(Authority::Staff { level, rules: accounts::rules(row.rules) })
        }
        (Role::Staff, None) | (Role::Mitra | Role::Crew | Role::Reseller, _) => {
            Err(Error::Forbidden)
        }
    }
}
